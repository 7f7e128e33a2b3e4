"use strict";
const explorer = (() => {
  const OUTCOMES = ["gained", "lost", "both right", "both wrong"];
  const PAGE = 50;
  const shards = new Map();
  const state = { text: "", comparison: 0, cutoff: 1, outcome: "all", shown: PAGE };
  let data = null, texts = [], open = null, last = null;

  const $ = (id) => document.getElementById(id);
  // Text only ever becomes text: names and ids of other people's files are shown, never parsed.
  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }

  const disease = (i) => data.diseases[i];
  const diseaseName = (i) => disease(i)[1] || "name not known";
  const finding = (i) => data.terms[i][1] || data.terms[i][0];
  const place = (rank) => (rank > 0 ? rank.toLocaleString("en") : "–");

  function outcome(row) {
    const [, left, right] = data.comparisons[state.comparison];
    const hit = (i) => row.ranks[i] > 0 && row.ranks[i] <= state.cutoff;
    const before = hit(left), after = hit(right);
    if (before === after) return before ? "both right" : "both wrong";
    return after ? "gained" : "lost";
  }

  function matching() {
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    return data.cases.map((row, i) => i).filter((i) => words.every((w) => texts[i].includes(w)));
  }

  function index(value) {
    data = value;
    texts = data.cases.map((row) =>
      [...disease(row.gold), row.record, row.publication || "",
        ...row.observed.concat(row.excluded).flatMap((t) => data.terms[t])].join(" ").toLowerCase());
    $("comparison").append(...data.comparisons.map(([label], i) => make("option", { value: i }, label)));
    $("outcomes").append(...["all", ...OUTCOMES].map((name) =>
      make("label", {},
        make("input", { type: "radio", name: "outcome", value: name, ...(name === "all" && { checked: "" }) }),
        " ", name, " ", make("span", { class: "id", "data-count": name }))));
    readAddress();
    window.addEventListener("hashchange", readAddress);
  }

  // The address holds what is shown, so that a view can be linked and Back works.
  function readAddress() {
    const asked = new URLSearchParams(location.hash.slice(1));
    state.text = asked.get("q") || "";
    state.comparison = Math.min(Number(asked.get("compare")) || 0, data.comparisons.length - 1);
    state.cutoff = [1, 3, 10].includes(Number(asked.get("k"))) ? Number(asked.get("k")) : 1;
    state.outcome = OUTCOMES.includes(asked.get("outcome")) ? asked.get("outcome") : "all";
    const number = asked.has("case") ? Number(asked.get("case")) : NaN;
    open = Number.isInteger(number) && number >= 0 && number < data.cases.length ? number : null;
    $("search").value = state.text;
    $("comparison").value = state.comparison;
    $("cutoff").value = state.cutoff;
    document.querySelector(`input[name=outcome][value="${state.outcome}"]`).checked = true;
    open === null ? showList() : showCase(open);
  }

  function address(changes = {}) {
    const usual = { q: "", compare: 0, k: 1, outcome: "all" };
    const all = { q: state.text, compare: state.comparison, k: state.cutoff, outcome: state.outcome, ...changes };
    const given = Object.entries(all).filter(([name, value]) => value !== usual[name]);
    return "#" + new URLSearchParams(given.map(([k, v]) => [k, String(v)]));
  }

  function showList() {
    $("case").hidden = true;
    $("list").hidden = false;
    const found = matching();
    const kinds = found.map((i) => outcome(data.cases[i]));
    for (const node of document.querySelectorAll("[data-count]")) {
      const name = node.dataset.count;
      const n = name === "all" ? found.length : kinds.filter((kind) => kind === name).length;
      node.textContent = `(${n.toLocaleString("en")})`;
    }
    const [, left, right] = data.comparisons[state.comparison];
    $("left").textContent = `Place, ${data.systems[left].label}`;
    $("right").textContent = `Place, ${data.systems[right].label}`;
    const kept = found.filter((i, at) => state.outcome === "all" || kinds[at] === state.outcome);
    $("count").textContent = `${kept.length.toLocaleString("en")} of ${data.cases.length.toLocaleString("en")} cases`;
    $("rows").replaceChildren(...kept.slice(0, state.shown).map((i) => {
      const row = data.cases[i];
      return make("tr", {},
        make("th", { scope: "row" },
          make("a", { href: address({ case: i }), "data-case": i }, diseaseName(row.gold)), " ",
          make("span", { class: "id" }, disease(row.gold)[0])),
        make("td", { class: "w" }, row.record),
        make("td", {}, String(row.observed.length)),
        make("td", {}, place(row.ranks[left])),
        make("td", {}, place(row.ranks[right])),
        make("td", { class: "w" }, outcome(row)));
    }));
    $("more").hidden = kept.length <= state.shown;
    document.title = `${data.corpus}: cases`;
    if (last !== null) {
      const link = document.querySelector(`a[data-case="${last}"]`);
      if (link) link.focus();
      last = null;
    }
  }

  function removal(row) {
    if (!row.annotations) return "The diagnosis has no annotations in this release.";
    if (!row.publication) return "The case names no publication, so that LOPO takes nothing away.";
    if (!row.removed) {
      return `LOPO takes none of the diagnosis's ${row.annotations} annotations away: none rests on this publication alone.`;
    }
    return `LOPO takes ${row.removed} of the diagnosis's ${row.annotations} annotations away: those that this publication alone supports.`;
  }

  function showCase(i) {
    const number = Math.floor(i / data.shard);
    if (!shards.has(number)) {
      const script = make("script", { src: `data/${number}.js` });
      script.onerror = () => {
        $("case").replaceChildren(make("p", { class: "alarm" }, `data/${number}.js is missing; make the explorer again.`));
        $("case").hidden = false;
      };
      document.head.append(script);
      return;
    }
    const row = data.cases[i], lists = shards.get(number)[i] || [];
    const head = make("h2", { tabindex: "-1" }, diseaseName(row.gold), " ",
      make("span", { class: "id" }, disease(row.gold)[0]));
    const pmid = /^PMID:(\d+)$/.exec(row.publication || "");
    const source = pmid
      ? make("a", { href: `https://pubmed.ncbi.nlm.nih.gov/${pmid[1]}/`, rel: "noreferrer" }, row.publication)
      : row.publication || "no publication";
    const about = [row.sex && row.sex.toLowerCase().replace("_", " "),
      row.days !== null && `${(row.days / 365.25).toFixed(1)} years`].filter(Boolean).join(", ");
    const findings = (name, terms) => terms.length
      ? [make("h3", {}, name), make("ul", { class: "findings" }, ...terms.map((t) =>
        make("li", {}, finding(t), " ", make("span", { class: "id" }, data.terms[t][0]))))]
      : [];
    const compared = data.comparisons[state.comparison].slice(1);
    const others = data.systems.map((system, s) => s).filter((s) => !compared.includes(s));
    const columns = (some) => make("div", { class: "lists" },
      ...some.map((s) => list(row, data.systems[s], s, lists[s] || [])));
    const back = make("a", { href: address(), id: "back" }, "← All cases");
    $("case").replaceChildren(
      make("p", {}, back), head,
      make("p", { class: "note" }, `${row.record}; `, source, about ? `; ${about}` : ""),
      make("p", {}, removal(row)),
      ...findings("Observed findings", row.observed), ...findings("Excluded findings", row.excluded),
      make("h3", {}, "Candidates"),
      make("p", { class: "note" }, `First ${data.places} of each list. A finding counts as matched where the candidate is annotated with it or with something more specific.`),
      columns(compared),
      others.length ? make("details", { id: "others" }, make("summary", {}, `Other lists (${others.length})`), columns(others)) : "");
    $("list").hidden = true;
    $("case").hidden = false;
    document.title = `${diseaseName(row.gold)}: ${data.corpus}`;
    last = i;
    head.focus();
  }

  function list(row, system, s, candidates) {
    const rank = row.ranks[s];
    const where = rank > 0 ? `diagnosis at place ${rank.toLocaleString("en")}` : "diagnosis not in the list";
    return make("section", {},
      make("h3", {}, system.label),
      make("p", { class: "note" }, candidates.length ? where : `no list; ${where}`),
      make("ol", {}, ...candidates.map((candidate) => make("li", {}, entry(row, system, candidate)))));
  }

  function entry(row, system, [d, value, parts, matched, excluded]) {
    const known = matched !== undefined;
    const share = known ? `${matched.length} of ${row.observed.length} findings` : "";
    const title = [
      make("span", { class: d === row.gold ? "right" : null }, diseaseName(d)), " ",
      make("span", { class: "id" }, disease(d)[0]), " "];
    if (!known || !matched.length) title.push(make("span", { class: "without" }, "no ontology evidence"));
    else title.push(make("span", { class: "id" }, share));
    const facts = make("dl", {});
    const fact = (name, text) => text && facts.append(make("dt", {}, name), make("dd", {}, text));
    if (value !== null && system.value) fact(system.value, String(value));
    if (known) {
      const names = (at, terms) => at.map((p) => finding(terms[p])).join(", ");
      fact("Matched", names(matched, row.observed));
      fact("Not matched", names(row.observed.map((t, p) => p).filter((p) => !matched.includes(p)), row.observed));
      fact("Against: excluded in the case, annotated", names(excluded, row.excluded));
    }
    if (parts) {
      fact("Contributions, log odds", parts.map((p, g) => [data.groups[g].replaceAll("_", " "), p])
        .filter(([, p]) => p !== 0).map(([g, p]) => `${g} ${p > 0 ? "+" : "−"}${Math.abs(p).toFixed(2)}`).join(", "));
    }
    return make("details", {}, make("summary", {}, ...title), facts);
  }

  function shard({ number, cases }) {
    shards.set(number, cases);
    if (open !== null && Math.floor(open / data.shard) === number) showCase(open);
  }

  function change(values) {
    Object.assign(state, values, { shown: PAGE });
    history.replaceState(null, "", address());
    showList();
  }

  function move(step) {
    const links = [...document.querySelectorAll("#rows a")];
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
    links[Math.max(0, Math.min(links.length - 1, next))].focus();
  }

  document.addEventListener("DOMContentLoaded", () => {
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    $("search").addEventListener("input", (event) => change({ text: event.target.value }));
    $("comparison").addEventListener("change", (event) => change({ comparison: Number(event.target.value) }));
    $("cutoff").addEventListener("change", (event) => change({ cutoff: Number(event.target.value) }));
    $("outcomes").addEventListener("change", (event) => change({ outcome: event.target.value }));
    $("more").addEventListener("click", () => { state.shown += PAGE; showList(); });
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !data) return;
    const typing = event.target.matches("input[type=search], select");
    if (event.key === "Escape" && open !== null) location.hash = address();
    else if (event.key === "Escape" && typing) event.target.blur();
    else if (typing || open !== null) return;
    else if (event.key === "/") $("search").focus();
    else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else return;
    event.preventDefault();
  });
  return { index, shard };
})();
