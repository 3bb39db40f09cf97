// One link: both entities, their names and values, both neighbourhoods, the evidence, other candidates, and what was decided before.
/* global element, count, addressOf, signed, signedBar, drawNeighbours */

const MOST_VALUES = 10; // rows that are shown at first
// What people read as the verdict; "no match" without a target is about the source as a whole.
export const VERDICTS = { match: "match", "no match": "not the same", unsure: "unsure", skip: "skipped" };
export const verdictOf = (verdict, target) => (verdict === "no match" && !target ? "no match at all" : VERDICTS[verdict] ?? verdict);
export const pairOf = (verdict, one, other) => (other ? `${one} ${verdict === "match" ? "=" : "and"} ${other}` : one);

// Draws an item anew. `look` says whether scores and Latin letters are shown, `choose` is called with the target of another candidate, `open` with
// the two ends of a link.
export function drawItem(place, item, look, choose, open) {
  place.replaceChildren(
    ...question(item, look),
    ...candidates(item, look, choose),
    ...values(item),
    neighbours(item, look),
    ...contributions(item, look),
    ...decisions(item, open),
  );
  drawGraphs(place, item, look);
}

// The neighbourhoods alone, after the width has changed.
export function drawGraphs(place, item, look) {
  const graphs = place.querySelector(".graphs");
  if (!graphs || !item.target) return;
  const end = (each) => each && { name: shown(each, look), iri: each.iri };
  drawNeighbours(graphs, {
    names: [shown(item.source, look), shown(item.target, look)],
    label: `The neighbours of ${shown(item.source, look)} and of ${shown(item.target, look)}, joined where they are linked; the table below has the same`,
    counts: item.neighbour_counts,
    rows: item.neighbours.map((row) => ({
      ends: [end(row.source), end(row.target)],
      relations: [row.source_relations.join(", "), row.target_relations.join(", ")],
      strength: row.seed ? "seed" : look.scores && row.probability !== null ? row.probability.toFixed(2) : "",
    })),
  });
}

// The name that is shown of an entity.
export const shown = (entity, look) => (look.latin && entity.latin) || entity.name || entity.iri;

export const percent = (probability) => (probability === null || probability === undefined ? "–" : probability.toFixed(3));

function question(item, look) {
  const source = element("b", { lang: "" }, shown(item.source, look));
  const title = item.target
    ? element("h1", { id: "question", tabIndex: -1 }, "Are ", source, " and ", element("b", { lang: "" }, shown(item.target, look)), " the same?")
    : element("h1", { id: "question", tabIndex: -1 }, source, " has no link. Is one of the candidates the same?");
  const about = [item.class, item.target && item.probability !== null && look.scores ? `probability ${percent(item.probability)}` : "", item.target && item.round ? `confident since round ${item.round}` : "", item.drawn === "search" ? "opened by you" : item.why && look.scores ? `asked because: ${item.why}` : ""];
  const ends = element("div", { className: "ends" }, end("source", item.source, look), item.target ? end("target", item.target, look) : "");
  if (item.target && item.matching_names && (item.matching_names[0].text !== item.source.name || item.matching_names[1].text !== item.target.name)) {
    const [one, other] = item.matching_names.map((name) => element("span", {}, element("b", {}, text(name, look)), ...label(name)));
    const same = item.matching_names[0].text.toLowerCase() === item.matching_names[1].text.toLowerCase();
    ends.append(element("p", { className: "matching" }, `${same ? "Names that match" : "Closest names"}: `, one, " and ", other));
  }
  return [element("p", { className: "note about" }, about.filter(Boolean).join(" · ")), title, ends];
}

const text = (name, look) => (look.latin && name.latin ? name.latin : name.text);

function label(name) {
  const parts = [name.language, name.rank === "preferred" ? "" : name.rank].filter(Boolean);
  return parts.length ? [" ", element("span", { className: "label" }, parts.join(", "))] : [];
}

function end(side, entity, look) {
  const badge = entity.kind && entity.kind !== "individual" ? [" ", element("span", { className: "badge" }, entity.kind)] : [];
  const title = element("h2", { className: "title" }, shown(entity, look), ...badge);
  const told = entity.names.length > 1 || entity.names.some((name) => name.text !== entity.name || label(name).length);
  const names = (told ? entity.names : []).map((name) => element("li", { lang: look.latin ? "" : name.language }, text(name, look), ...label(name)));
  return element(
    "div", { className: "end" },
    element("p", { className: "side" }, side), title, addressOf(entity.iri),
    names.length ? element("ul", { className: "names", "aria-label": `All names of ${entity.name}` }, ...names) : "",
  );
}

function candidates(item, look, choose) {
  if (!item.candidates.length) return [element("p", { className: "note" }, "There is no candidate.")];
  const buttons = item.candidates.map((each) => {
    const number = each.number <= 9 ? [element("kbd", {}, String(each.number)), " "] : [];
    const taken = each.taken_by && each.taken_by !== item.source.iri ? [element("span", { className: "label" }, ` linked to ${each.taken_by_name}`)] : [];
    const score = look.scores && each.probability !== null ? [" ", element("span", { className: "label number" }, percent(each.probability))] : [];
    const pressed = String(item.target !== null && item.target.iri === each.target);
    return element("button", { type: "button", "aria-pressed": pressed, on: { click: () => choose(each.target) } }, ...number, shown(each, look), ...score, ...taken);
  });
  return [element("h2", { className: "small" }, "Candidates"), element("div", { className: "choices", role: "group", "aria-label": "The candidate that is shown" }, ...buttons)];
}

// Values of properties that are compared come first; the others stand side by side in their own order.
function values(item) {
  const compared = item.values.map((row) => [row.source_property, row.source, row.target_property, row.target, row.agreement]);
  const used = new Set(item.values.flatMap((row) => [`0 ${row.source_property} ${row.source}`, `1 ${row.target_property} ${row.target}`]));
  const isNew = (end, at) => (each) => !used.has(`${at} ${each.property} ${each.value}`) && !end.names.some((name) => name.text === each.value); // names are above
  const [left, right] = [item.source, item.target].map((end, at) => (end ? end.values.filter(isNew(end, at)) : []));
  const others = Array.from({ length: Math.max(left.length, right.length) }, (_, i) => [left[i]?.property ?? "", left[i]?.value ?? "", right[i]?.property ?? "", right[i]?.value ?? "", ""]);
  const rows = [...compared, ...others];
  if (!rows.length) return [];
  const cell = (property, value) => element("td", {}, property ? element("span", { className: "label" }, property) : "", " ", value);
  const lines = rows.map(([one, left, other, right, agreement]) =>
    element("tr", {}, cell(one, left), cell(other, right), element("td", { className: agreement === "differs" ? "differs" : "same" }, agreement)),
  );
  const body = element("tbody", {}, ...lines.slice(0, MOST_VALUES));
  const head = element("tr", {}, ...["source", "target", ""].map((name) => element("th", { scope: "col" }, name)));
  const table = element("table", { className: "plain values" }, element("thead", {}, head), body);
  const made = [element("h2", { className: "small" }, "Values side by side"), element("div", { className: "scroll" }, table)];
  if (lines.length > MOST_VALUES) {
    const more = element("button", { type: "button", className: "text" }, `show all ${count(lines.length)} rows`);
    more.addEventListener("click", () => { body.append(...lines.slice(MOST_VALUES)); more.remove(); });
    made.push(more);
  }
  return made;
}

function neighbours(item, look) {
  const made = element("section", { "aria-labelledby": "neighbours-title" }, element("h2", { className: "small", id: "neighbours-title" }, "Neighbours"));
  if (!item.target) return element("span");
  if (!item.neighbours.length) {
    made.append(element("p", { className: "note" }, "Neither entity has neighbours."));
    return made;
  }
  const name = (end, relations) => element("td", {}, end ? shown(end, look) : "", " ", element("span", { className: "label" }, relations.join(", ")));
  const rows = item.neighbours.map((row) => {
    const joined = !(row.source && row.target) ? "not linked" : row.seed ? "seed" : look.scores && row.probability !== null ? `linked, ${percent(row.probability)}` : "linked";
    return element("tr", {}, name(row.source, row.source_relations), name(row.target, row.target_relations), element("td", {}, joined));
  });
  const head = element("tr", {}, ...["source", "target", ""].map((text) => element("th", { scope: "col" }, text)));
  const table = element("table", { className: "plain" }, element("thead", {}, head), element("tbody", {}, ...rows));
  made.append(element("div", { className: "graphs" }), element("details", {}, element("summary", {}, "The neighbours as a table"), element("div", { className: "scroll" }, table)));
  return made;
}

function contributions(item, look) {
  if (!item.contributions.length) return [];
  const title = element("h2", { className: "small" }, "Evidence for and against");
  if (!look.scores) return [title, element("p", { className: "note" }, "Scores are hidden; h shows them.")];
  const most = Math.max(0.01, ...item.contributions.map((each) => Math.abs(each.amount)));
  const amount = (value) => [signedBar(value, most), element("span", { className: "amount" }, signed(value))];
  const rows = item.contributions.map((each) =>
    element(
      "tr", { title: each.description },
      element("th", { scope: "row" }, each.kind, element("span", { className: "note wide" }, each.description)),
      element("td", { className: "number" }, ...amount(each.amount)),
    ),
  );
  const sum = item.contributions.reduce((sum, each) => sum + each.amount, 0);
  rows.push(element("tr", { className: "sum" }, element("th", { scope: "row" }, "score, in points"), element("td", { className: "number" }, signed(sum))));
  return [title, element("div", { className: "scroll" }, element("table", { className: "plain contributions" }, element("tbody", {}, ...rows)))];
}

function decisions(item, open) {
  if (!item.decisions.length) return [];
  const rows = item.decisions.map((each) => element("li", {}, ...decisionText(each, open), each.standing ? "" : element("span", { className: "label" }, " no longer stands")));
  return [element("h2", { className: "small" }, `What was decided about ${item.source.name}`), element("ul", { className: "last" }, ...rows)];
}

// What somebody has decided, with a button that opens it again.
export function decisionText(each, open) {
  const pair = pairOf(each.verdict, each.source_name, each.target && each.target_name);
  const again = element("button", { type: "button", className: "open", title: "Open it again", on: { click: () => open(each.source, each.target) } }, pair);
  const when = new Date(each.at);
  const said = [verdictOf(each.verdict, each.target), each.author, Number.isNaN(when.getTime()) ? "" : when.toLocaleString([], { dateStyle: "short", timeStyle: "short" })];
  return [again, " ", element("span", { className: "label" }, said.filter(Boolean).join(", "))];
}
