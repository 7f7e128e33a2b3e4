"""What a clinical text says of a finding: there, denied, normal, a relative's, or uncertain.

Cue words and their reach, in the manner of NegEx (Chapman 2001) and ConText (Harkema 2009): a cue
reaches over lists and commas up to the end of the sentence, a word such as "but", or the next verb
that does not belong to it. A cue inside a finding's own name ("no social interaction") is none.
"""

from collections.abc import Collection, Sequence


def words_in(text: str) -> frozenset[str]:
    """The different words of a text."""
    return frozenset(text.split())


OBSERVED, EXCLUDED, LEFT_OUT = STATUSES = ("observed", "excluded", "left out")
NORMAL = "said to be normal"
RELATIVE = "said of a relative"
UNCERTAIN = "said to be uncertain"

NEGATIONS = words_in(
    "no not never without denies denied deny denying nor neither negative excluded cannot isn't "
    "wasn't aren't weren't hasn't haven't hadn't doesn't don't didn't unlikely failed fails"
)
ABSENCES = frozenset(
    {("absence", "of"), ("lack", "of"), ("free", "of"), ("ruled", "out"), ("rather", "than")}
)
"""Deny a finding that has a name; before other words they belong to them: "absence of a kidney"."""
NO_NEGATIONS = frozenset(
    {("not", "only"), ("no", "doubt"), ("not", "able"), ("not", "necessarily"), ("no", "longer")}
)
ENDS = words_in("but however although though except yet despite whereas while then")
VERBS = words_in(
    "is are was were be been being has have had having does do did shows show showed shown showing "
    "presents presented presenting develops develop developed developing exhibits exhibited "
    "reveals revealed demonstrates demonstrated suffers suffered became becomes complained "
    "complains reports reported started began"
)
AUXILIARIES = words_in("is are was were be been has have had does do did also")
SEEN = words_in(
    "present seen observed noted found detected reported documented evident apparent known"
)
ABSENT = words_in("absent denied excluded negative unlikely ruled")  # out
ANSWERS = ABSENT | {"no", "none"}
WELL = words_in("normal normally unremarkable intact")
RELATIVES = words_in(
    "mother father mother's father's maternal paternal brother sister brother's sister's sibling "
    "siblings brothers sisters parent parents uncle aunt cousin cousins grandmother grandfather "
    "grandparents familial relatives twin daughter son nephew niece mom mum dad sib sibs fhx "
    "half-brother half-sister stepbrother stepsister grandson granddaughter"
)
PATIENT = words_in("patient proband he she child boy girl infant baby")
REPORTING = words_in(
    "noticed notice reported report reports observed noted describe described describes state "
    "stated states complained complain denied deny denies are were is"
)
DOUBTS = words_in(
    "possible possibly probable probably suspected questionable suspicion likely unclear concern "
    "query considered differential if risk screen screened screening vaccinated vaccination ?"
)
LINKS = words_in("and or nor")
COMMA = ","
MINUS = ["(", "-", ")"]
SIGNS = words_in(": - – ( )")
"""Between a finding and a word that answers it: "Seizures: no"."""
_CUES = ENDS | VERBS | RELATIVES | DOUBTS | PATIENT
_LISTING = LINKS | {COMMA}


def status_of(
    words: Sequence[str], first: int, last: int, inside: Collection[int] = (), *, named: bool = True
) -> tuple[str, str | None]:
    """Status of a finding in its sentence, and why it is left out.

    Parameters
    ----------
    words : sequence of str
        The sentence's words in lower case; every other sign is a word of its own.
    first, last : int
        Places of the finding's first and last word.
    inside : collection of int
        Places that belong to findings, where no cue is looked for.
    named : bool
        Whether the words are an ontology's name; see `ABSENCES`.

    Returns
    -------
    status : str
        Of `STATUSES`.
    reason : str or None
        Why it is left out.
    """
    if _of_relative(words, first, inside):
        return LEFT_OUT, RELATIVE
    if _doubted(words, first, inside):
        return LEFT_OUT, UNCERTAIN
    after = _predicate(words, last, inside)
    if set(after) & DOUBTS or _not_excluded(after):
        return LEFT_OUT, UNCERTAIN
    own = {*words[first : last + 1]} if not named else set()
    if own & WELL or (first and words[first - 1] in WELL) or set(after) & WELL:
        return LEFT_OUT, NORMAL
    affirmed = bool(after) and after[-1] in SEEN and NEGATIONS.isdisjoint(after)
    denied = _denied_before(words, first, inside, named=named, affirmed=affirmed)
    denied |= list(words[last + 1 : last + 4]) == MINUS
    denied |= bool(set(after) & ANSWERS) or _denied_after(after)
    return (EXCLUDED if denied else OBSERVED), None


def is_measured(words: Sequence[str], last: int) -> bool:
    """Whether a value follows what ends at `last`: "birth weight was 2100 g"."""
    place = last + 1
    while place < len(words) and words[place] in AUXILIARIES:
        place += 1
    return place < len(words) and words[place][0].isdigit()


def is_cue(words: Sequence[str], place: int) -> bool:
    """Whether a word only says something of findings, and is no part of one."""
    word = words[place]
    if word in NEGATIONS:
        return tuple(words[place : place + 2]) not in NO_NEGATIONS
    return word in _CUES


def _denied_before(
    words: Sequence[str], first: int, inside: Collection[int], *, named: bool, affirmed: bool
) -> bool:
    for place in range(first - 1, -1, -1):
        if place in inside:
            continue
        word, pair = words[place], tuple(words[place : place + 2])
        if word in ENDS:
            return False
        if pair in NO_NEGATIONS:
            continue
        if word in NEGATIONS or (named and pair in ABSENCES):
            # "Ataxia was not noted early, nystagmus was present": the later clause has its own.
            return not (affirmed and word in ("not", "never"))
        if word in VERBS and not (place and words[place - 1] in NEGATIONS | {"to"}):
            return False
        if word == "with" and place and words[place - 1] in _LISTING:
            return False
        if word in SEEN and words[place + 1] in _LISTING:
            # The predicate of what stands before: "seizures were not seen, ataxia was".
            return False
    return False


def _not_excluded(after: Sequence[str]) -> bool:
    """Whether a predicate says "cannot be excluded"."""
    before = after[: after.index("excluded")] if "excluded" in after else ()
    return not {"cannot", "not"}.isdisjoint(before)


def _predicate(words: Sequence[str], last: int, inside: Collection[int]) -> list[str]:
    """What follows a list of findings: auxiliaries and the word they lead to."""
    place = last + 1
    while place < len(words) and (place in inside or words[place] in _LISTING):
        place += 1
    answered = place < len(words) and words[place] in SIGNS
    while place < len(words) and words[place] in SIGNS:
        place += 1
    begin = place
    found: list[str] = []
    while place < len(words) and place not in inside:
        found.append(words[place])
        if words[place] not in AUXILIARIES | NEGATIONS:
            break
        place += 1
    # A list that ends in a comma has no predicate of its own: "seizures, no ataxia".
    if answered:
        # An answer is one word alone: in "seizures: no ataxia" the word belongs to what follows.
        ends = begin + 1 >= len(words) or not words[begin + 1][0].isalnum()
        return found[:1] if found and found[0] in ANSWERS and ends else []
    return found if found and found[0] in AUXILIARIES | ABSENT | {"not", "cannot"} else []


def _denied_after(after: Sequence[str]) -> bool:
    return bool(after) and after[-1] in SEEN and bool({"not", "never"} & set(after))


def _of_relative(words: Sequence[str], first: int, inside: Collection[int]) -> bool:
    for place in range(first - 1, -1, -1):
        if place in inside:
            continue
        if words[place] in PATIENT or words[place] in ENDS:
            return False
        if words[place] in VERBS and place and words[place - 1] == COMMA:
            # Back from a clause in between: "whose brother had died, presented with …".
            return False
        if tuple(words[place : place + 2]) == ("family", "history"):
            return True
        if words[place] in RELATIVES:
            if place > 1 and words[place] in ("parent", "parents") and _descent(words, place):
                continue
            return not (place + 1 < len(words) and words[place + 1] in REPORTING)
    return False


def _descent(words: Sequence[str], place: int) -> bool:
    """Whether parents only say whose child it is: "born to consanguineous parents"."""
    return bool({"of", "to"} & {words[place - 1], words[place - 2]})


def _doubted(words: Sequence[str], first: int, inside: Collection[int]) -> bool:
    for place in range(first - 1, -1, -1):
        if place in inside:
            continue
        if words[place] == COMMA or words[place] in ENDS | VERBS:
            return False
        if words[place] in DOUBTS:
            return True
    return False
