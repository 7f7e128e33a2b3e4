"""Make the tiny corpus: 27 terms, 14 diseases, 16 phenopackets, each oddity once.

Run in this folder after a change, then put the printed digests into sources.yaml.
"""

import hashlib
import json
from pathlib import Path

HERE = Path(__file__).parent
BRANCHES = {
    "HP:0000707": (
        "Abnormality of the nervous system",
        {
            "HP:0001250": ("Seizure", {"HP:0002133": "Status epilepticus", "HP:0002373": "Febrile seizure"}),
            "HP:0001249": ("Intellectual disability", {"HP:0010864": "Intellectual disability, severe"}),
            "HP:0001251": ("Ataxia", {}),
        },
    ),
    "HP:0000478": (
        "Abnormality of the eye",
        {
            "HP:0000518": ("Cataract", {"HP:0000519": "Congenital cataract"}),
            "HP:0000510": ("Rod-cone dystrophy", {}),
            "HP:0000639": ("Nystagmus", {}),
        },
    ),
    "HP:0000924": (
        "Abnormality of the skeletal system",
        {
            "HP:0002650": ("Scoliosis", {"HP:0002943": "Thoracic scoliosis"}),
            "HP:0001166": ("Arachnodactyly", {}),
            "HP:0004322": ("Short stature", {}),
        },
    ),
}  # fmt: skip


def obo() -> str:
    """OBO text with an alt id, replaced and dead obsolete terms, and a term under two parents."""
    terms = [
        ("HP:0000001", "All", [], []),
        ("HP:0000118", "Phenotypic abnormality", ["HP:0000001"], []),
        ("HP:0012823", "Clinical modifier", ["HP:0000001"], []),
        ("HP:0003674", "Onset", ["HP:0000001"], []),
        ("HP:0003577", "Congenital onset", ["HP:0003674"], []),
        ("HP:0011463", "Childhood onset", ["HP:0003674"], []),
    ]
    for branch, (name, children) in BRANCHES.items():
        terms.append((branch, name, ["HP:0000118"], []))
        for child, (label, leaves) in children.items():
            extra = ["HP:0000924"] if child == "HP:0001251" else []
            alt = ["HP:0002279"] if child == "HP:0001250" else []
            terms.append((child, label, [branch, *extra], alt))
            terms += [(leaf, text, [child], []) for leaf, text in leaves.items()]
    lines = ["format-version: 1.2", "data-version: tiny", ""]
    for term, label, parents, alt in sorted(terms):
        lines += ["[Term]", f"id: {term}", f"name: {label}"]
        lines += [f"alt_id: {a}" for a in alt]
        lines += [f"is_a: {p}" for p in parents] + [""]
    for term, replacement in (("HP:0000057", "HP:0001166"), ("HP:0000099", None)):
        lines += ["[Term]", f"id: {term}", "name: obsolete", "is_obsolete: true"]
        lines += [f"replaced_by: {replacement}"] * (replacement is not None) + [""]
    return "\n".join(lines)


# disease → name, rows of (term, publications, frequency)
DISEASES = {
    "OMIM:100001": ("Amber ataxia syndrome 1", [("HP:0001251", "PMID:11", "3/4"), ("HP:0000639", "PMID:11", "2/4"), ("HP:0002373", "OMIM:100001", "")]),
    "OMIM:100002": ("Amber ataxia syndrome 2", [("HP:0001251", "PMID:12;PMID:13", "5/5"), ("HP:0010864", "PMID:13", "1/2")]),
    "OMIM:100003": ("Basalt cataract", [("HP:0000519", "PMID:14", "1/1"), ("HP:0000639", "PMID:14", "1/1")]),
    "OMIM:100004": ("Cobalt dystrophy", [("HP:0000510", "PMID:15", "7/9"), ("HP:0000510", "PMID:16", "2/2"), ("HP:0000518", "PMID:16", "0/2")]),
    "OMIM:100005": ("Dolomite epilepsy", [("HP:0002133", "PMID:17", "HP:0040281"), ("HP:0001249", "PMID:17", "50%"), ("HP:0002279", "PMID:18", "2/3")]),
    "OMIM:100006": ("Emerald scoliosis", [("HP:0002943", "PMID:19", "4/4"), ("HP:0001166", "PMID:19;PMID:20", "")]),
    "OMIM:100007": ("Flint short stature", [("HP:0004322", "PMID:21", "9/7"), ("HP:0002650", "PMID:21", "0/0")]),
    "OMIM:100008": ("Garnet syndrome", [("HP:0001250", "PMID:22", "1/3"), ("HP:0000518", "PMID:22", "1/3"), ("HP:0004322", "PMID:23", "3/3")]),
    "OMIM:100009": ("Hematite ataxia", [("HP:0001251", "PMID:24", "2/2"), ("HP:0002650", "PMID:24", "2/2")]),
    "OMIM:100010": ("Iolite disorder", [("HP:0001249", "OMIM:100010", ""), ("HP:0000639", "OMIM:100010", "")]),
    "OMIM:100011": ("Jade dysplasia", [("HP:0001166", "PMID:25", "1/1"), ("HP:0004322", "PMID:25", "1/1"), ("HP:0000510", "PMID:25", "0/1")]),
    "OMIM:100012": ("Kyanite seizures", [("HP:0002373", "PMID:26", "1/2"), ("HP:0001250", "PMID:27", "2/2")]),
    "OMIM:100013": ("Lapis syndrome", [("HP:0000707", "OMIM:100013", "")]),
    "OMIM:100014": ("Marble disease", [("HP:9999999", "PMID:28", ""), ("HP:0000099", "PMID:28", "")]),
}  # fmt: skip


def hpoa() -> str:
    """HPOA text with every kind of frequency, an unknown and a dead term, NOT and ORPHA rows."""
    header = [
        "database_id",
        "disease_name",
        "qualifier",
        "hpo_id",
        "reference",
        "evidence",
        "onset",
        "frequency",
        "sex",
        "modifier",
        "aspect",
        "biocuration",
    ]
    lines = ["#description: tiny", "#version: tiny", "\t".join(header)]

    def row(
        disease: str, name: str, qualifier: str, term: str, ref: str, f: str, aspect: str
    ) -> None:
        lines.append(
            "\t".join(
                [
                    disease,
                    name,
                    qualifier,
                    term,
                    ref,
                    "PCS",
                    "",
                    f,
                    "",
                    "",
                    aspect,
                    "HPO:x[2026-01-01]",
                ]
            )
        )

    for disease, (name, rows) in DISEASES.items():
        for term, ref, frequency in rows:
            row(disease, name, "", term, ref, frequency, "P")
    row("OMIM:100001", "Amber ataxia syndrome 1", "NOT", "HP:0000518", "PMID:11", "", "P")
    row("OMIM:100001", "Amber ataxia syndrome 1", "", "HP:0003577", "PMID:11", "", "C")
    row("ORPHA:9", "Orphan", "", "HP:0001250", "ORPHA:9", "", "P")
    return "\n".join(lines) + "\n"


# file stem → gold, PMID, observed, excluded
CASES = {
    "PMID_11_A": ("OMIM:100001", 11, ["HP:0001251", "HP:0000639"], ["HP:0000518"]),
    "PMID_11_B": ("OMIM:100001", 11, ["HP:0001251", "HP:0002373"], []),
    "PMID_12_A": ("OMIM:100002", 12, ["HP:0001251", "HP:0001249"], []),
    "PMID_14_A": ("OMIM:100003", 14, ["HP:0000519", "HP:0000639"], ["HP:0001250"]),
    "PMID_15_A": ("OMIM:100004", 15, ["HP:0000510"], []),
    "PMID_17_A": ("OMIM:100005", 17, ["HP:0002133", "HP:0001249", "HP:0002279"], []),  # alt id
    "PMID_19_A": ("OMIM:100006", 19, ["HP:0002943", "HP:0000057"], []),  # replaced term
    "PMID_21_A": ("OMIM:100007", 21, ["HP:0004322", "HP:0002650"], ["HP:0001166"]),
    "PMID_22_A": ("OMIM:100008", 22, ["HP:0001250", "HP:0000518", "HP:0003577"], []),  # an onset
    "PMID_24_A": ("OMIM:100009", 24, ["HP:0001251", "HP:0002650", "HP:0002650"], []),  # twice
    "PMID_25_A": ("OMIM:100011", 25, ["HP:0001166", "HP:0004322"], ["HP:0000510"]),
    "PMID_26_A": ("OMIM:100012", 26, ["HP:0002373", "HP:0000639"], ["HP:0000639"]),  # both
    "PMID_30_A": ("OMIM:100010", 30, ["HP:0001249", "HP:0000639"], []),  # cites nothing
    "PMID_31_A": ("OMIM:999999", 31, ["HP:0001250"], []),  # no candidate
    "PMID_32_A": ("OMIM:100013", 32, [], ["HP:0001250"]),  # nothing observed
}  # fmt: skip


def phenopacket(stem: str) -> dict[str, object]:
    """GA4GH v2 phenopacket of one case."""
    gold, pmid, observed, excluded = CASES[stem]
    name = DISEASES.get(gold, ("Unlisted disease", []))[0]
    features: list[dict[str, object]] = [
        {"type": {"id": t, "label": "as recorded"}} for t in observed
    ]
    features += [{"type": {"id": t, "label": "as recorded"}, "excluded": True} for t in excluded]
    return {
        "id": stem,
        "subject": {
            "id": stem[-1],
            "sex": "FEMALE" if pmid % 2 else "MALE",
            "timeAtLastEncounter": {"age": {"iso8601duration": f"P{pmid}Y"}},
        },
        "phenotypicFeatures": features,
        "interpretations": [
            {
                "id": stem,
                "diagnosis": {
                    "disease": {"id": gold, "label": name},
                    "genomicInterpretations": [
                        {"variantInterpretation": {"variationDescriptor": {
                            "geneContext": {"valueId": f"HGNC:{pmid}", "symbol": f"TINY{pmid}"},
                            "expressions": [{"syntax": "hgvs.c", "value": f"NM_{pmid}.1:c.{pmid}A>G"}],
                        }}}
                    ],
                },
            }
        ],
        "metaData": {
            "phenopacketSchemaVersion": "2.0",
            "externalReferences": [{"id": f"PMID:{pmid}"}],
        },
    }  # fmt: skip


# Orphanet's relation of each pair: most are exact, one id has two exact equivalents, one none.
DISEASE_MAP = [
    *((f"OMIM:{100000 + i}", f"ORPHA:{i}", "E") for i in range(3, 15)),
    ("OMIM:100001", "ORPHA:1", "E"),
    ("OMIM:100002", "ORPHA:1", "E"),
    ("OMIM:999999", "ORPHA:99", "BTNT"),
]


def disease_map() -> str:
    """OMIM and ORPHA ids as Orphanet relates them."""
    rows = ["omim_id\torpha_id\trelation", *("\t".join(row) for row in sorted(DISEASE_MAP))]
    return "\n".join(rows) + "\n"


def main() -> None:
    """Write everything and print the digests."""
    (HERE / "phenopackets").mkdir(exist_ok=True)
    texts = {"tiny.obo": obo(), "tiny.hpoa": hpoa(), "disease_map.tsv": disease_map()}
    for name, text in texts.items():
        (HERE / name).write_text(text, encoding="utf-8", newline="\n")
        print(name, len(text.encode()), hashlib.sha256(text.encode()).hexdigest())
    for stem in CASES:
        text = json.dumps(phenopacket(stem), indent=1) + "\n"
        (HERE / "phenopackets" / f"{stem}.json").write_text(text, encoding="utf-8")
    (HERE / "phenopackets" / "PMID_33_A.json").write_text('{"id": "PMID_33_A", "subject": {')


if __name__ == "__main__":
    main()
