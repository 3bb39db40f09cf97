// The scripts of the report, after those of drawing.js. All text from the data enters the page as text nodes or attributes, never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const PAGE = 50;
const SCORE = "the sum: it ranks the candidates of one query; the probability also weighs other queries and no match";
const CONTROL = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/g;
const HAS_ESCAPES = /[\x00-\x1f\x7f-\x9f\u2028\u2029]|\\(?:[\\tnr]|x[0-9a-f]{2}|u[0-9a-f]{4})/;
const { links, pairs, near, starts } = data;
const byId = (id) => document.getElementById(id);
const probability = (link) => (links.pair[link] < 0 ? 0 : pairs.p[links.pair[link]] / 1000);
const iri = (side, id) => data[side].prefix + data[side].iris[id];
const nameOf = (side, id) => data[side].names[id] || iri(side, id);
const sourceName = (id) => nameOf("source", id);
const targetName = (id) => nameOf("target", id);
const shortName = (side, id) => data[side].names[id] || iri(side, id).split(/[/#]/).filter(Boolean).pop() || iri(side, id);

// The links of each entity, by its position on its side; an entity may have several.
const grouped = (idOf) => links.pair.reduce((found, pair, link) => { if (pair >= 0) (found[idOf(link)] ||= []).push(link); return found; }, {});
const linksOf = { source: grouped((link) => links.source[link]), target: grouped((link) => pairs.target[links.pair[link]]) };

// ---- rounds

function drawRounds() {
  const place = byId("rounds");
  if (!place) return;
  const width = Math.max(300, place.clientWidth), height = 230, floor = 180;
  const rounds = data.rounds, step = width / rounds.length, bar = Math.min(72, step * 0.62);
  const most = Math.max(1, ...rounds.map((round) => round.confident));
  const high = (value) => (value / most) * (floor - 34);
  const svg = picture(width, height, "Confident links after each round");
  svg.append(drawn("line", { class: "axis", x1: 0, x2: width, y1: floor, y2: floor }));
  rounds.forEach((round, i) => {
    const x = step * (i + 0.5), fresh = Math.min(round.new, round.confident), top = floor - high(round.confident);
    const checked = round.held_out && round.held_out.confident ? `; ${round.held_out.right} of ${round.held_out.confident} right among held-out seeds` : "";
    const group = drawn("g", {}, drawn("title", {}, `round ${round.round}: ${count(round.confident)} confident links, ${count(round.new)} of them new${checked}`));
    group.append(drawn("rect", { class: "old", x: x - bar / 2, y: top, width: bar, height: high(round.confident), rx: 3 }));
    group.append(drawn("rect", { class: "new", x: x - bar / 2, y: top, width: bar, height: high(fresh), rx: 3 }));
    group.append(caption(x, top - 8, step < 44 ? "" : count(round.confident), "", "middle"));
    group.append(caption(x, floor + 20, String(round.round), "muted", "middle"));
    svg.append(group);
    const begins = i === 0 || rounds[i - 1].queries !== round.queries;
    if (begins) svg.append(caption(step * i + 4, floor + 42, fit(`${count(round.queries)} queries`, step * rounds.slice(i).filter((r) => r.queries === round.queries).length, 11.5), "muted small"));
    if (begins && i) svg.append(drawn("line", { class: "axis", x1: step * i, x2: step * i, y1: 8, y2: floor + 48 }));
  });
  const legend = element("p", { className: "note" }, "Confident links after each round. The stronger colour marks links that are new in that round. The number below is the round.");
  place.replaceChildren(svg, legend);
}

// ---- thresholds

const BINS = 25;
const linked = links.pair.map((_, i) => i).filter((i) => links.pair[i] >= 0);
const heights = new Array(BINS).fill(0);
for (const link of linked) heights[Math.min(BINS - 1, Math.floor(probability(link) * BINS))]++;

const bandOf = (value) => (value >= accept() ? "accepted" : value >= reject() ? "review" : "rejected");
const accept = () => Number(byId("accept").value);
const reject = () => Math.min(accept(), Number(byId("reject").value));

function drawHistogram() {
  const place = byId("histogram");
  const width = Math.max(280, place.clientWidth), height = 170, floor = 140, step = width / BINS;
  const most = Math.max(1, ...heights);
  const high = (value) => (value ? Math.max(2, Math.sqrt(value / most) * (floor - 10)) : 0);
  const svg = picture(width, height, "How many links have which probability");
  heights.forEach((value, i) => {
    const bar = drawn("rect", { class: bandOf((i + 0.5) / BINS), x: i * step + 1, y: floor - high(value), width: step - 2, height: high(value), rx: 2 });
    bar.append(drawn("title", {}, `${(i / BINS).toFixed(2)} to ${((i + 1) / BINS).toFixed(2)}: ${count(value)} links`));
    svg.append(bar);
  });
  svg.append(drawn("line", { class: "axis", x1: 0, x2: width, y1: floor, y2: floor }));
  for (const value of [0, 0.25, 0.5, 0.75, 1])
    svg.append(caption(value * width, floor + 20, String(value), "muted small", value === 0 ? "start" : value === 1 ? "end" : "middle"));
  place.replaceChildren(svg, element("p", { className: "note" }, "Number of links by probability. Heights are square roots, so that small groups can be seen."));
}

const BANDS = { accepted: "accept", review: "review", rejected: "reject" };

function drawBands() {
  byId("accept-value").value = accept().toFixed(2);
  byId("reject-value").value = reject().toFixed(2);
  const groups = { accepted: [], review: [], rejected: [] };
  for (const link of linked) groups[bandOf(probability(link))].push(link);
  const made = Object.entries(BANDS).map(([band, name]) => {
    const inside = groups[band];
    const judged = links.right ? inside.filter((link) => links.right[link] >= 0) : [];
    const right = judged.filter((link) => links.right[link] === 1).length;
    const expected = inside.reduce((sum, link) => sum + probability(link), 0);
    const truth = judged.length ? `${((100 * right) / judged.length).toFixed(1)} % of ${count(judged.length)} judged links are right` : inside.length === 1 ? `right with a probability of ${expected.toFixed(3)}` : inside.length ? `about ${count(Math.round(expected))} of them ${Math.round(expected) === 1 ? "is" : "are"} right, by their probabilities` : "";
    const show = element("button", { type: "button", className: "text", on: { click: () => { byId("band").value = band; refresh(); byId("links").scrollIntoView(); } } }, "show");
    const save = element("button", { type: "button", className: "text", on: { click: () => saveTable(inside, `${name}.tsv`) } }, "save as TSV");
    return element("div", { className: `band ${band}` }, name, element("b", {}, count(inside.length)), element("span", { className: "note" }, truth), show, save);
  });
  byId("bands").replaceChildren(...made);
}

function saveTable(chosen, name) {
  const escape = (sign) => ({ "\t": "\\t", "\n": "\\n", "\r": "\\r" })[sign] || `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const oneLine = (text) => (HAS_ESCAPES.test(text) ? text.replaceAll("\\", "\\\\").replace(CONTROL, escape) : text); // as in alignment.tsv
  const plain = (text) => oneLine(text).replace(/^(?='*[=+@-])(?![+-][\d., ]*\d%?$)/, "'"); // no field is a formula
  const lines = chosen.map((link) => {
    const pair = links.pair[link];
    return [iri("source", links.source[link]), iri("target", pairs.target[pair]), data.source.names[links.source[link]], data.target.names[pairs.target[pair]], probability(link).toFixed(3)].map(plain).join("\t");
  });
  const text = ["source\ttarget\tsource_name\ttarget_name\tprobability", ...lines, ""].join("\n");
  const url = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// ---- reliability

function drawReliability() {
  const place = byId("reliability");
  if (!place) return;
  const size = Math.min(360, Math.max(260, place.clientWidth)), left = 34, side = size - left - 12, base = side + 30;
  const x = (value) => left + value * side, y = (value) => base - value * side;
  const svg = picture(size, base + 40, "How often links are right, by probability");
  svg.style.maxWidth = `${size}px`;
  for (const value of [0, 0.5, 1]) {
    svg.append(drawn("line", { class: "axis", x1: x(0), x2: x(1), y1: y(value), y2: y(value) }));
    svg.append(caption(left - 8, y(value) + 4, String(value), "muted small", "end"), caption(x(value), base + 18, String(value), "muted small", "middle"));
  }
  svg.append(drawn("line", { class: "diagonal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
  const points = data.reliability, most = Math.max(...points.map((point) => point.count));
  svg.append(drawn("polyline", { class: "curve", points: points.map((point) => `${x(point.probability)},${y(point.right)}`).join(" ") }));
  for (const point of points) {
    const dot = drawn("circle", { class: "dot", cx: x(point.probability), cy: y(point.right), r: 4 + 7 * Math.sqrt(point.count / most) });
    dot.append(drawn("title", {}, `${count(point.count)} links, mean probability ${point.probability.toFixed(2)}, share of right links ${point.right.toFixed(2)}`));
    svg.append(dot);
  }
  svg.append(caption(x(0.5), base + 36, "probability", "muted small", "middle"), caption(0, 12, "share of right links", "muted small"));
  place.replaceChildren(svg);
}

// ---- the list

const state = { order: null, sort: "probability", ascending: true, page: 0, open: new Set() };
let haystack = null;

function fillChoices() {
  const option = (value, text) => element("option", { value }, text);
  const bands = [option("all", "all"), option("accepted", "accept"), option("review", "review"), option("rejected", "reject")];
  if (linked.length < links.pair.length) bands.push(option("unmatched", "unmatched"));
  if (links.right) bands.push(option("wrong", "wrong by the test links"));
  byId("band").replaceChildren(...bands);
  const numbers = [...new Set(linked.map((link) => pairs.round[links.pair[link]]))].sort((a, b) => a - b);
  byId("round").replaceChildren(option("all", "any round"), ...numbers.map((number) => option(String(number), number ? `confident since round ${number}` : "decided at the end")));
  byId("round").parentElement.hidden = numbers.length < 2;
}

function matching() {
  const wanted = byId("search").value.trim().toLowerCase(), band = byId("band").value, round = byId("round").value;
  if (wanted && !haystack)
    haystack = links.source.map((source, link) => {
      const pair = links.pair[link];
      return [["source", source], ["target", pair < 0 ? -1 : pairs.target[pair]]]
        .flatMap(([side, id]) => (id < 0 ? [] : [nameOf(side, id), iri(side, id), ...namesOf(side, id).map(([text]) => text)]))
        .join("\n").toLowerCase();
    });
  const found = [];
  for (let link = 0; link < links.source.length; link++) {
    const pair = links.pair[link];
    if (wanted && !haystack[link].includes(wanted)) continue;
    if (band === "unmatched" ? pair >= 0 : band === "wrong" ? links.right[link] !== 0 : band !== "all" && (pair < 0 || bandOf(probability(link)) !== band)) continue;
    if (round !== "all" && (pair < 0 || pairs.round[pair] !== Number(round))) continue;
    found.push(link);
  }
  const keys = {
    probability,
    round: (link) => (links.pair[link] < 0 ? -1 : pairs.round[links.pair[link]]),
    source: (link) => sourceName(links.source[link]),
    target: (link) => (links.pair[link] < 0 ? "" : targetName(pairs.target[links.pair[link]])),
  };
  const key = keys[state.sort], sign = state.ascending ? 1 : -1, values = new Map(found.map((link) => [link, key(link)]));
  return found.sort((a, b) => { const x = values.get(a), y = values.get(b); return (x < y ? -sign : x > y ? sign : a - b); });
}

function refresh() {
  state.order = matching();
  state.page = 0;
  state.open.clear();
  showPage();
}

function showPage() {
  const pages = Math.max(1, Math.ceil(state.order.length / PAGE));
  state.page = Math.max(0, Math.min(state.page, pages - 1));
  const rows = state.order.slice(state.page * PAGE, (state.page + 1) * PAGE).map(row);
  if (!rows.length) rows.push(element("tr", {}, element("td", { colSpan: columns(), className: "note" }, "No link fits. Try another word or another choice above.")));
  byId("rows").replaceChildren(...rows);
  byId("page").textContent = `${count(state.order.length)} found, page ${count(state.page + 1)} of ${count(pages)}`;
  byId("previous").disabled = state.page === 0;
  byId("next").disabled = state.page === pages - 1;
  for (const header of document.querySelectorAll("#table thead button")) {
    const cell = header.parentElement;
    if (header.dataset.sort === state.sort) cell.setAttribute("aria-sort", state.ascending ? "ascending" : "descending");
    else cell.removeAttribute("aria-sort");
  }
}

// How many links an entity has, where it has several; a click lists them.
function several(side, id) {
  const found = linksOf[side][id] || [];
  if (found.length < 2) return [];
  const show = (event) => { event.stopPropagation(); byId("band").value = "all"; byId("round").value = "all"; byId("search").value = iri(side, id); refresh(); };
  return [" ", element("button", { type: "button", className: "several", title: `List all links of ${nameOf(side, id)}`, on: { click: show } }, `${count(found.length)} links`)];
}

function row(link) {
  const pair = links.pair[link], value = probability(link);
  const name = element("button", { type: "button", "aria-expanded": "false" }, sourceName(links.source[link]));
  const wrong = links.right && links.right[link] === 0;
  const match = pair < 0 ? element("span", { className: "unmatched" }, "no match") : element("span", { className: wrong ? "wrong" : "", title: wrong ? "wrong by the test links" : "" }, targetName(pairs.target[pair]));
  const fill = element("i");
  fill.style.width = `${100 * value}%`;
  const made = element(
    "tr", { className: "link" },
    element("td", {}, name, ...several("source", links.source[link])),
    element("td", {}, match, ...(pair < 0 ? [] : several("target", pairs.target[pair]))),
    element("td", { className: "wide" }, pair < 0 ? "" : pairs.round[pair] ? String(pairs.round[pair]) : "end"),
    element("td", { className: "number" }, pair < 0 ? "" : element("span", { className: "meter" }, fill), pair < 0 ? "–" : value.toFixed(3)),
  );
  made.addEventListener("click", () => toggle(made, link));
  return made;
}

const columns = () => (matchMedia("(max-width: 720px)").matches ? 3 : 4); // one is hidden there

function toggle(tableRow, link) {
  const button = tableRow.querySelector("button"), open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  tableRow.classList.toggle("open", !open);
  if (open) return tableRow.nextElementSibling.remove();
  const cell = element("td", { colSpan: columns() });
  tableRow.after(element("tr", { className: "detail" }, cell));
  showLink(cell, link);
}

// ---- one link

const address = (side, id) => addressOf(iri(side, id));

// All names of an entity, as text, language and rank; none where there is no more to say than its shown name.
const namesOf = (side, id) => (data[side].all_names[id] || []).map(([text, ...rest]) => [text || nameOf(side, id), ...rest]);

// Language and rank of a name, as a label behind it; none for a preferred name without a language.
function label([, language, rank]) {
  const parts = [language, rank ? data.ranks[rank] : ""].filter(Boolean);
  return parts.length ? [" ", element("span", { className: "label" }, parts.join(", "))] : [];
}

function end(side, id) {
  const kind = data[side].kinds ? data[side].kinds[id] : 0, names = namesOf(side, id), more = data[side].more_names[id];
  const name = data[side].names[id], badge = kind ? [" ", element("span", { className: "badge" }, data.kinds[kind])] : [];
  const made = element("div", {}, element("p", { className: "title" }, name || address(side, id), ...badge), name ? address(side, id) : "");
  if (names.length) {
    const items = names.map((each) => element("li", {}, each[0], ...label(each)));
    if (more) items.push(element("li", { className: "note" }, `and ${count(more)} more`));
    made.append(element("ul", { className: "names", "aria-label": `All names of ${nameOf(side, id)}` }, ...items));
  }
  return made;
}

// The two most similar names of a pair, where they are not the shown ones.
function matchingNames(pair) {
  const names = pairs.names[pair];
  if (!names) return [];
  const [one, other] = names.map((name) => element("span", {}, element("b", {}, name[0]), ...label(name)));
  return [element("p", { className: "matching" }, "Names that match: ", one, " and ", other)];
}

function showLink(cell, link) {
  const pair = links.pair[link], runner = links.runner[link], source = links.source[link];
  const options = [];
  if (pair >= 0) options.push([pair, `link: ${targetName(pairs.target[pair])}`]);
  if (runner >= 0) options.push([runner, `${pair >= 0 ? "runner-up" : "best candidate"}: ${targetName(pairs.target[runner])}`]);
  const graphs = element("div", { className: "graphs" }), ends = element("div", { className: "ends" });
  const buttons = options.map(([option, label]) => element("button", { type: "button", on: { click: () => choose(option) } }, label));
  function choose(option) {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(options[i][0] === option)));
    ends.replaceChildren(end("source", source), end("target", pairs.target[option]), ...matchingNames(option));
    graphs.dataset.option = option;
    graphs.dataset.source = source;
    drawGraphs(graphs);
  }
  const text = element("div", { className: "against" }, ...against(link));
  cell.append(element("div", { className: "choices", role: "group", "aria-label": "The pair that is shown" }, ...buttons), ends, ...contributionsOf(link), graphs, text);
  if (options.length) choose(options[0][0]);
}

function against(link) {
  const pair = links.pair[link], runner = links.runner[link], shown = [pair, runner].filter((option) => option >= 0);
  const numbers = [
    ["probability", (option) => (pairs.p[option] / 1000).toFixed(3)],
    ["letters in common", (option) => `${pairs.similarity[option]} %`],
    ["linked neighbours", (option) => `${count(pairs.shared[option])} of ${count(data.target.degrees[pairs.target[option]])}`],
  ];
  const literals = shown.map(literalsOf);
  for (const property of new Set(literals.flatMap((each) => [...each.keys()]))) {
    numbers.push([property, (option) => literals[shown.indexOf(option)].get(property) || ""]);
  }
  const head = element("tr", {}, element("th"), ...shown.map((option) => element("th", { className: "number" }, option === pair ? "link" : pair < 0 ? "best candidate" : "runner-up")));
  const body = numbers.map(([label, value]) => element("tr", {}, element("th", { scope: "row" }, label), ...shown.map((option) => element("td", { className: "number" }, value(option)))));
  const said = element("div"), say = (text) => said.append(element("p", {}, text));
  if (pair >= 0) {
    say(pairs.round[pair] ? `Confident since round ${pairs.round[pair]}.` : `Decided at the end, by the decoder (${data.decoder}).`);
    const others = (side, id) => (linksOf[side][id] || []).filter((other) => other !== link).sort((a, b) => probability(b) - probability(a));
    const listed = (found, name) => found.slice(0, 8).map((other) => `${name(other)} (${probability(other).toFixed(3)})`).join("; ") + (found.length > 8 ? `; and ${count(found.length - 8)} more` : "");
    const targets = others("source", links.source[link]), sources = others("target", pairs.target[pair]);
    if (targets.length) say(`The source has ${count(targets.length)} more ${targets.length === 1 ? "link" : "links"}: ${listed(targets, (other) => targetName(pairs.target[links.pair[other]]))}.`);
    if (sources.length) say(`The target has ${count(sources.length)} more ${sources.length === 1 ? "link" : "links"}: ${listed(sources, (other) => sourceName(links.source[other]))}.`);
    else if (pairs.taken_by[pair] >= 0) say(`Another source has the same match: ${sourceName(pairs.taken_by[pair])}.`);
    const lacking = rowsOf(pair).filter((i) => near.flags[i] & 2).map((i) => targetName(near.target[i]));
    if (lacking.length) say(`The runner-up lacks: ${lacking.join("; ")}.`);
  }
  if (runner >= 0 && pairs.taken_by[runner] >= 0) say(`The ${pair >= 0 ? "runner-up" : "best candidate"} is the match of ${sourceName(pairs.taken_by[runner])}.`);
  else if (pair < 0 && runner >= 0) say("The best candidate is not probable enough beside other queries and no match.");
  if (links.right && pair >= 0 && links.right[link] >= 0) say(links.right[link] ? "The test links say that the link is right." : "The test links say that the link is wrong.");
  const table = element("table", { className: "plain" }, element("thead", {}, head), element("tbody", {}, ...body));
  return [element("div", { className: "scroll" }, table), said];
}

// How much each kind of evidence adds to the score of the link, and beside it to that of the runner-up: signed bars around zero.
function contributionsOf(link) {
  const given = data.contributions, pair = links.pair[link], runner = links.runner[link];
  const shown = [pair, runner].filter((option) => option >= 0 && given && given.amounts[option]);
  if (!shown.length) return [];
  const amounts = shown.map((option) => given.amounts[option]); // hundredths
  const kinds = given.kinds.map((_, kind) => kind).filter((kind) => amounts.some((each) => each[kind])).sort((a, b) => Math.abs(amounts[0][b]) - Math.abs(amounts[0][a]));
  const most = Math.max(1, ...amounts.flat().map(Math.abs));
  const head = shown.map((option) => element("th", { className: "number" }, option === pair ? "link" : pair < 0 ? "best candidate" : "runner-up"));
  const rows = kinds.map((kind) =>
    element(
      "tr", { title: given.descriptions[kind] },
      element("th", { scope: "row" }, given.kinds[kind], element("span", { className: "note wide" }, given.descriptions[kind])),
      ...amounts.map((each) => element("td", { className: "number" }, signedBar(each[kind], most), element("span", { className: "amount" }, signed(each[kind] / 100)))),
    ),
  );
  const sums = amounts.map((each) => element("td", { className: "number" }, signed(each.reduce((sum, amount) => sum + amount, 0) / 100)));
  rows.push(element("tr", { className: "sum" }, element("th", { scope: "row" }, "score", element("span", { className: "note wide" }, SCORE)), ...sums));
  const table = element("table", { className: "plain contributions" }, element("thead", {}, element("tr", {}, element("th", {}, "evidence, in points"), ...head)), element("tbody", {}, ...rows));
  return [element("div", { className: "scroll" }, table)];
}

function literalsOf(pair) {
  const found = new Map(), values = data.values;
  for (let i = values ? values.starts[pair] : 0; values && i < values.starts[pair + 1]; i++)
    found.set(values.property[i], [found.get(values.property[i]), `${values.source[i]} | ${values.target[i]}, ${values.agreement[i]}`].filter(Boolean).join("; "));
  return found;
}

function rowsOf(pair) {
  const rows = [];
  for (let i = starts[pair]; i < starts[pair + 1]; i++) rows.push(i);
  return rows;
}

function through(side, list) {
  const names = data.relations[side], numbers = Array.isArray(list) ? list : [list];
  return numbers.filter((number) => number >= 0).map((number) => (number < names.length ? `→ ${names[number]}` : `← ${names[number - names.length]}`)).join(", ");
}

function drawGraphs(place) {
  const option = Number(place.dataset.option), source = Number(place.dataset.source), target = pairs.target[option];
  const rows = rowsOf(option);
  if (!rows.length) {
    const why = pairs.shared[option] || data.source.degrees[source] ? "The evidence of this link is left out here to keep the page small; kgalign explain shows it." : "Neither entity has neighbours.";
    return place.replaceChildren(element("p", { className: "note" }, why));
  }
  const neighbour = (side, id) => (id < 0 ? null : { name: shortName(side, id), iri: iri(side, id) });
  drawNeighbours(place, {
    names: [shortName("source", source), shortName("target", target)],
    label: `The neighbours of ${sourceName(source)} and of ${targetName(target)}`,
    counts: [data.source.degrees[source], data.target.degrees[target]],
    rows: rows.map((i) => ({
      ends: [neighbour("source", near.source[i]), neighbour("target", near.target[i])],
      relations: [through("source", near.source_relations[i]), through("target", near.target_relations[i])],
      strength: near.flags[i] & 1 ? "seed" : (near.p[i] / 1000).toFixed(2),
    })),
  });
}

// ---- keys, theme, start

function move(by) {
  const buttons = [...document.querySelectorAll("tr.link button[aria-expanded]")], at = buttons.indexOf(document.activeElement);
  const next = buttons[at < 0 ? 0 : at + by];
  if (next) next.focus();
}

document.addEventListener("keydown", (event) => {
  const field = event.target.closest("input, select, textarea");
  if (event.key === "/" && !field) { event.preventDefault(); byId("search").focus(); }
  else if (event.key === "Escape" && field && field.id === "search") { field.value = ""; refresh(); }
  else if (event.key === "Escape") { const open = event.target.closest("tr"); const owner = open && open.classList.contains("detail") ? open.previousElementSibling : open; if (owner && owner.classList.contains("open")) { owner.click(); owner.querySelector("button").focus(); } }
  else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (event.target.closest("tr.link") || (field && field.id === "search" && event.key === "ArrowDown"))) { event.preventDefault(); move(event.key === "ArrowDown" ? 1 : -1); }
});

byId("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("kgalign-theme", root.dataset.theme); } catch { /* a file may have no storage */ }
});
try { const theme = localStorage.getItem("kgalign-theme"); if (theme) document.documentElement.dataset.theme = theme; } catch { /* the same */ }

let waiting;
const soon = (action) => () => { clearTimeout(waiting); waiting = setTimeout(action, 120); };
byId("toolbar").addEventListener("submit", (event) => event.preventDefault());
byId("search").addEventListener("input", soon(refresh));
byId("band").addEventListener("change", refresh);
byId("round").addEventListener("change", refresh);
for (const slider of ["accept", "reject"]) byId(slider).addEventListener("input", () => { drawHistogram(); drawBands(); if (!["all", "unmatched", "wrong"].includes(byId("band").value)) soon(refresh)(); });
for (const header of document.querySelectorAll("#table thead button"))
  header.addEventListener("click", () => { state.ascending = state.sort === header.dataset.sort ? !state.ascending : true; state.sort = header.dataset.sort; refresh(); });
byId("previous").addEventListener("click", () => { state.page--; showPage(); });
byId("next").addEventListener("click", () => { state.page++; showPage(); });

function drawCharts() { drawRounds(); drawHistogram(); drawReliability(); document.querySelectorAll(".graphs").forEach(drawGraphs); }
let drawnWidth = innerWidth;
addEventListener("resize", soon(() => { if (innerWidth !== drawnWidth) { drawnWidth = innerWidth; drawCharts(); } }));
// The command that reviews the run, with the folder that this page lies in, in quotes where a shell needs them.
function nameFolder() {
  if (location.protocol !== "file:") return;
  try {
    const folder = decodeURIComponent(location.pathname).replace(/\/[^/]*$/, "").replace(/^\/(?=[A-Za-z]:)/, "");
    byId("review-command").textContent = `kgalign review ${/^[\w./:-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`}`;
  } catch { /* a name that is no UTF-8 */ }
}

nameFolder();
fillChoices();
drawCharts();
drawBands();
refresh();
