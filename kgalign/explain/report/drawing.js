"use strict";
// What the report and the review draw with: elements, pictures, signed bars, and two neighbourhoods. All text from graphs enters as text.
const count = (number) => number.toLocaleString("en");

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else if (key in made && !key.startsWith("aria")) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// An IRI as a link, or as text where a browser cannot open it.
function addressOf(iri) {
  return /^https?:\/\//.test(iri) ? element("a", { href: iri, rel: "noopener noreferrer", target: "_blank" }, iri) : element("span", {}, iri);
}

function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const picture = (width, height, label) => drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
const caption = (x, y, text, kind = "", anchor = "start") => drawn("text", { x, y, class: kind, "text-anchor": anchor }, text);

const pen = document.createElement("canvas").getContext("2d");
function fit(text, width, size, bold = false) {
  pen.font = `${bold ? 600 : 400} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  if (pen.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low) + "…";
}

const signed = (amount) => `${amount > 0 ? "+" : amount < 0 ? "−" : ""}${Math.abs(amount).toFixed(2)}`;

function signedBar(amount, most) {
  const fill = element("i", { className: amount < 0 ? "negative" : "" });
  fill.style.width = `${(50 * Math.abs(amount)) / most}%`;
  return element("span", { className: "signed" }, fill);
}

// Both neighbourhoods side by side, and the linked neighbours joined. `names` and `counts` of neighbours are of the source and of the target; so are
// the `ends` ({ name, iri }, or null) and `relations` of a row, whose `strength` stands between them.
function drawNeighbours(place, { names, label, counts, rows }) {
  const both = rows.filter((row) => row.ends[0] && row.ends[1]);
  const alone = [rows.filter((row) => !row.ends[1]), rows.filter((row) => !row.ends[0])];
  const width = Math.max(300, place.clientWidth), wide = width >= 640, step = 52, tall = 42;
  const lines = both.length + Math.max(alone[0].length, alone[1].length), top = wide ? 8 : 76;
  const height = Math.max(top + lines * step + 22, wide ? 110 : 0);
  const gap = wide ? 96 : 44, margin = wide ? 150 : 12, plate = (width - 2 * margin - gap) / 2;
  const middle = wide ? top + (lines * step) / 2 - 4 : 22;
  const centres = wide ? [[70, middle], [width - 70, middle]] : [[margin + plate / 2, middle], [width - margin - plate / 2, middle]];
  const svg = picture(width, height, label);
  const edges = drawn("g"), nodes = drawn("g"), columns = [margin, margin + plate + gap];

  function node(row, at, line, joined) {
    const x = columns[at], y = top + line * step, centre = y + tall / 2;
    const outer = at ? x + plate : x, [cx, cy] = centres[at];
    const path = wide ? `M${cx},${cy} C${(cx + outer) / 2},${cy} ${(cx + outer) / 2},${centre} ${outer},${centre}` : `M${cx},${cy} L${at ? width - 4 : 4},${cy + 20} V${centre} H${outer}`;
    const edge = drawn("path", { class: joined ? "edge linked" : "edge", d: path });
    if (joined) edges.append(edge);
    else edges.prepend(edge); // linked ones lie on top
    const { name, iri } = row.ends[at], relation = row.relations[at];
    const group = drawn("g", { class: joined ? "" : "alone" }, drawn("title", {}, `${name}\n${relation}\n${iri}`));
    group.append(drawn("rect", { class: joined ? "node linked" : "node", x, y, width: plate, height: tall, rx: 9 }));
    group.append(caption(x + 12, y + 18, fit(name, plate - 20, 13, false)), caption(x + 12, y + 33, fit(relation, plate - 20, 11.5), "muted small"));
    nodes.append(group);
  }

  both.forEach((row, line) => {
    const centre = top + line * step + tall / 2, x = columns[0] + plate + gap / 2;
    edges.append(drawn("line", { class: "bridge", x1: columns[0] + plate, x2: columns[1], y1: centre, y2: centre }));
    if (row.strength) nodes.append(drawn("rect", { class: "plate", x: x - 18, y: centre - 9, width: 36, height: 18 }), caption(x, centre + 4, row.strength, "muted small", "middle"));
    node(row, 0, line, true);
    node(row, 1, line, true);
  });
  alone.forEach((rows, at) => rows.forEach((row, line) => node(row, at, both.length + line, false)));
  svg.append(edges, nodes);
  names.forEach((name, at) => {
    const [x, y] = centres[at], room = wide ? 124 : plate;
    svg.append(drawn("circle", { class: "centre", cx: x, cy: y, r: 13 }));
    svg.append(drawn("text", { x, y: y + 34, class: "strong", "text-anchor": "middle" }, fit(name, room, 13, true), drawn("title", {}, name)));
    const more = counts[at] - both.length - alone[at].length;
    if (more > 0) svg.append(caption(columns[at] + 12, height - 4, `and ${count(more)} more`, "muted small"));
  });
  place.replaceChildren(svg);
}
