// The page of a review: its views, keys, filters and dialogs. All text from the graphs enters the page as text nodes, never as HTML.
/* global element */
import { Effect } from "./effect.js";
import { Links } from "./links.js";
import { Queue } from "./queue.js";
import { kept, Outbox, read, takeToken } from "./saving.js";
import { startSearch } from "./search.js";

const byId = (id) => document.getElementById(id);
const VIEWS = ["queue", "links", "effect", "conflicts"];
const VERDICTS = [["", "any"], ["undecided", "undecided"], ["decided", "decided"], ["match", "match"], ["no match", "not the same, or no match at all"], ["unsure", "unsure"]];

const app = {
  author: kept.get("kgalign-author") || "",
  look: { scores: kept.get("kgalign-scores") !== "hidden", latin: kept.get("kgalign-latin") === "on" },
  view: "queue",
  outbox: null,
  // The filters that are set; the list of links has one more.
  filters(ofLinks = false) {
    const chosen = Object.fromEntries([...new FormData(byId("filters"))].filter(([, value]) => value !== ""));
    if (!ofLinks) delete chosen.verdict;
    return chosen;
  },
  current: () => queue.item,
  open: (source, target) => queue.open(source, target),
  say,
  show,
  decided: refreshSummary,
};
const queue = new Queue(app), links = new Links(app), effect = new Effect(app), openSearch = startSearch(app);

// What each key does, in the order of the help. `word`: on a button below the link.
const KEYS = [
  { keys: ["y", "x"], word: "Match", text: "match: both are the same", action: () => queue.decide("match") },
  { keys: ["n"], word: "Not the same", text: "not the same: these two differ; the source may have another match", action: () => queue.decide("no match") },
  { keys: ["u"], word: "Unsure", text: "unsure: leave it to somebody else", action: () => queue.decide("unsure") },
  { keys: ["s"], word: "Skip", text: "skip: another link first", action: () => queue.decide("skip") },
  { keys: ["0", "m"], word: "No match at all", text: "no match at all: nothing in the target is the same as the source", action: () => queue.decide("no match", true) },
  { keys: ["z"], word: "Undo", text: "undo: take the last decision back, as often as you like", action: () => queue.undo() },
  { keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], shown: "1 … 9", text: "show another candidate; the same key again, or y, accepts it", action: (key) => queue.number(Number(key)) },
  { keys: ["/"], text: "search both graphs", action: () => openSearch() },
  { keys: ["l"], text: "show names in Latin letters", action: () => turn("latin") },
  { keys: ["h"], text: "hide or show scores", action: () => turn("scores") },
  { keys: ["g"], text: "go on: run again with the decisions", action: () => effect.goOn() },
  { keys: ["?"], text: "this help", action: () => byId("help-dialog").showModal() },
];

function say(text, canUndo = false) {
  const made = [element("span", {}, text)];
  if (canUndo) made.push(" ", element("button", { type: "button", className: "text", on: { click: () => queue.undo() } }, "undo"));
  byId("said").replaceChildren(...made);
}

function show(view) {
  const changed = view !== app.view;
  app.view = view;
  for (const name of VIEWS) {
    byId(name).hidden = name !== view;
    const button = document.querySelector(`[data-view="${name}"]`);
    if (name === view) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  byId("actions").hidden = view !== "queue" || !queue.item;
  byId("filters-place").hidden = view === "effect" || view === "conflicts";
  document.querySelector(".of-links").hidden = view !== "links";
  if (changed && view === "queue") queue.redraw();
  if (changed && view === "links") links.refresh();
  if (changed && view !== "queue") byId(`${view}-title`).focus({ preventScroll: true });
  if (changed) scrollTo(0, 0);
}

function turn(name) {
  app.look[name] = !app.look[name];
  kept.set("kgalign-latin", app.look.latin ? "on" : "off");
  kept.set("kgalign-scores", app.look.scores ? "shown" : "hidden");
  drawLook();
  say(name === "latin" ? `Names are shown ${app.look.latin ? "in Latin letters" : "as they are"}.` : `Scores are ${app.look.scores ? "shown" : "hidden"}.`);
}

function drawLook() {
  byId("latin").setAttribute("aria-pressed", String(app.look.latin));
  byId("scores").setAttribute("aria-pressed", String(!app.look.scores));
  document.body.classList.toggle("no-scores", !app.look.scores);
  queue.draw();
  effect.draw();
  if (app.view === "links") links.refresh();
}

// Asks where the review stands: the last decisions, the choices of filters, conflicts and changes.
async function refreshSummary() {
  const summary = await read("summary").catch(() => null);
  if (!summary) return;
  queue.last(summary.last);
  fillChoices(summary);
  effect.update(summary);
}

function fillChoices(summary) {
  const fill = (select, options) => {
    if (select.options.length === options.length && options.every(([, text], i) => select.options[i].text === text)) return; // it may be open
    const chosen = select.value;
    select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
    select.value = chosen;
    if (select.selectedIndex < 0) select.value = "";
  };
  const form = byId("filters").elements;
  fill(form.class, [["", "any"], ...summary.classes.map((name) => [name, name])]);
  fill(form.round, [["", "any"], ...Array.from({ length: summary.rounds }, (_, i) => [String(i + 1), `confident since ${i + 1}`]), ["0", "decided at the end"]]);
  form.class.parentElement.hidden = !summary.classes.length;
}

function filtersChanged() {
  const set = Object.entries(app.filters(true)).map(([name, value]) => `${name === "verdict" ? "decision" : name} ${value}`);
  byId("filters-said").textContent = set.length ? set.join(", ") : "none";
  if (app.view === "links") links.refresh(true);
  else queue.next();
}

function startFilters() {
  byId("filters").elements.verdict.replaceChildren(...VERDICTS.map(([value, text]) => element("option", { value }, text)));
  byId("filters-said").textContent = "none";
  let timer;
  byId("filters").addEventListener("submit", (event) => { event.preventDefault(); filtersChanged(); });
  byId("filters").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(filtersChanged, 250); });
  byId("filters").addEventListener("reset", () => setTimeout(filtersChanged));
}

function startKeys() {
  const name = (each) => each.shown || each.keys[0];
  byId("keys").append(...KEYS.map((each) => element("tr", {}, element("th", { scope: "row" }, element("kbd", {}, name(each)), ...each.keys.slice(1, each.shown ? 1 : 2).flatMap((key) => [" ", element("kbd", {}, key)])), element("td", {}, each.text))));
  byId("actions").append(
    ...KEYS.filter((each) => each.word).map((each) => element("button", { type: "button", className: each.word === "Match" ? "strong-button" : "plain-button", title: each.text, on: { click: () => each.action() } }, each.word, " ", element("kbd", { "aria-hidden": "true" }, name(each)))),
  );
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (document.querySelector("dialog[open]") || event.target.closest("input, select, textarea")) return;
    const found = KEYS.find((each) => each.keys.includes(event.key.length === 1 ? event.key.toLowerCase() : event.key));
    if (!found) return;
    event.preventDefault();
    if (found.word || found.shown) show("queue");
    found.action(event.key);
  });
}

function startDialogs() {
  for (const button of document.querySelectorAll("[data-close]")) button.addEventListener("click", () => button.closest("dialog").close());
  byId("help").addEventListener("click", () => byId("help-dialog").showModal());
  byId("open-search").addEventListener("click", openSearch);
  byId("author").addEventListener("click", askAuthor);
  byId("download").addEventListener("click", download);
  byId("author-dialog").addEventListener("cancel", (event) => { if (!app.author) event.preventDefault(); });
}

// Asks who decides, and resolves when there is a name.
function askAuthor() {
  const dialog = byId("author-dialog"), field = byId("author-name");
  field.value = app.author;
  dialog.showModal();
  field.focus();
  return new Promise((named) => {
    dialog.addEventListener("close", () => {
      const name = field.value.trim().replace(/\s+/g, " "), before = app.author;
      if (!name) return named(before ? undefined : askAuthor());
      app.author = name;
      kept.set("kgalign-author", name);
      byId("author").textContent = name;
      if (before && before !== name) queue.next();
      named();
    }, { once: true });
  });
}

function startTheme() {
  const root = document.documentElement, theme = kept.get("kgalign-theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  byId("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    kept.set("kgalign-theme", root.dataset.theme);
  });
}

function unsaved(number, why, how) {
  const place = byId("unsaved"), button = (text, click) => element("button", { type: "button", className: "text", on: { click } }, text);
  place.hidden = number === 0;
  if (!number) return;
  const then = how === "refused" ? "The server refuses it; this browser keeps it until you give it up." : "This browser keeps what you decide and sends it when the server is back.";
  const made = [element("b", {}, `${number} not saved${how === "refused" ? "" : " yet"}`), `: ${why}. ${then} `, button("try now", () => app.outbox.retry())];
  if (how !== "away") made.push(button("give up the oldest", () => app.outbox.giveUp()));
  place.replaceChildren(...made);
}

// Hands the decisions that stand to the browser as a file: an address that it could open by itself would have no token.
async function download() {
  try {
    const { name, text } = await read("export");
    const address = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" }));
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
    say(`The decisions that stand are in ${name}.`);
  } catch (error) {
    say(error.message);
  }
}

// Asks what is reviewed, until somebody answers.
async function meet() {
  for (;;) {
    try {
      return await read("start");
    } catch (error) {
      queue.failed(error, () => {});
      await new Promise((done) => { setTimeout(done, 3000); addEventListener("hashchange", done, { once: true }); });
    }
  }
}

async function begin() {
  takeToken();
  addEventListener("hashchange", () => { takeToken(); app.outbox?.send(); });
  startTheme();
  startFilters();
  startKeys();
  startDialogs();
  for (const view of VIEWS) document.querySelector(`[data-view="${view}"]`).addEventListener("click", () => show(view));
  for (const name of ["latin", "scores"]) byId(name).addEventListener("click", () => turn(name));
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; queue.redraw(); } });
  byId("author").textContent = app.author || "your name";
  drawLook();
  show("queue");
  const { title, decisions, log } = await meet();
  byId("title").textContent = title;
  document.title = `${title} · review · kgalign`;
  byId("foot").textContent = `Decisions are kept in ${decisions}`;
  app.outbox = new Outbox(log, unsaved);
  if (!app.author) await askAuthor();
  await app.outbox.send();
  await Promise.all([refreshSummary(), queue.next()]);
}

begin();
