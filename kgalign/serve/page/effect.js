// What the decisions change: the run goes on with them, and its links are shown beside those before. Also the decisions that contradict each other.
/* global element, count */
import { decisionText, percent, VERDICTS } from "./item.js";
import { kept, newId, read } from "./saving.js";

const byId = (id) => document.getElementById(id);
const EVERY = "kgalign-every"; // after so many decisions the run goes on by itself
const CHOICES = [0, 10, 20, 50, 100];

export class Effect {
  // `app` has look, outbox, say(text), open(source, target) and decided().
  constructor(app) {
    this.app = app;
    this.summary = null;
  }

  every() { return Number(kept.get(EVERY) ?? 20); }

  // Shows where the review stands, and lets the run go on if it is time.
  update(summary) {
    this.summary = summary;
    this.draw();
    byId("conflict-count").textContent = summary.conflicts.length ? ` ${summary.conflicts.length}` : "";
    byId("conflict-list").replaceChildren(...conflicts(summary.conflicts, this.app));
    if (summary.changes.running) this.watch();
    else if (this.every() && summary.since_run >= this.every() && !summary.changes.error) this.send();
  }

  // Lets the run go on with all decisions so far.
  async goOn() {
    if (this.summary?.changes.running || this.watching) return this.app.say("The run goes on already.");
    if (!this.summary?.since_run) return this.app.say("There are no new decisions to go on with.");
    this.app.say(`The run goes on with ${this.decisions(this.summary.since_run)}, in the background.`);
    this.send();
  }

  async send() {
    if (this.watching) return;
    try {
      await this.app.outbox.change("go-on", { request: newId() });
      this.watch();
    } catch (error) {
      this.app.say(error.message);
    }
  }

  // Asks until the run that goes on has ended, and says what has changed.
  async watch() {
    if (this.watching) return;
    this.watching = true;
    byId("running").hidden = false;
    for (let changes = { running: true }; changes.running; ) {
      await new Promise((done) => setTimeout(done, 1000));
      changes = await read("changes").catch(() => changes);
      if (this.summary) this.summary.changes = changes;
      this.draw();
    }
    this.watching = false;
    byId("running").hidden = true;
    this.app.say(this.summary.changes.error ? `The run did not go on: ${this.summary.changes.error}` : `The run has gone on: ${this.summary.changes.text}.`);
    this.app.decided();
  }

  decisions(number) { return `${count(number)} ${number === 1 ? "decision" : "decisions"}`; }

  draw() {
    if (!this.summary) return;
    const { changes } = this.summary;
    const said = changes.total || changes.decisions ? `${changes.text}.` : "The run has not gone on yet.";
    const made = [element("p", { className: "effect-said", role: "status" }, said), element("p", {}, this.state())];
    if (changes.after !== null) made.push(element("p", { className: "note" }, "The expected precision is what the run's own probabilities promise. The estimated precision, below, is what your answers to random checks show."));
    if (changes.error) made.push(element("p", { className: "differs" }, `The run did not go on: ${changes.error}`));
    made.push(this.buttons());
    if (changes.links.length) made.push(...this.table(changes));
    byId("effect-text").replaceChildren(...made, element("h3", {}, "So far"), facts(this.summary));
  }

  state() {
    const { changes, since_run: since } = this.summary;
    if (changes.running) return "The run goes on in the background; you can decide meanwhile.";
    return since ? `${this.decisions(since)} since the run.` : "The run knows all decisions.";
  }

  buttons() {
    const { changes, since_run: since } = this.summary;
    const button = element(
      "button", { type: "button", className: "strong-button", disabled: changes.running || !since, on: { click: () => this.goOn() } },
      "Go on with the decisions ", element("kbd", {}, "g"),
    );
    const choice = (number) => element("option", { value: String(number), selected: number === this.every() }, number ? `after ${number} decisions` : "never");
    const every = element("select", { "aria-label": "When the run goes on by itself" }, ...CHOICES.map(choice));
    every.addEventListener("change", () => kept.set(EVERY, every.value));
    return element("p", { className: "buttons" }, button, element("label", { className: "note" }, "by itself ", every));
  }

  table(changes) {
    const head = element(
      "tr", {}, ...["source", "before", "after"].map((text) => element("th", { scope: "col" }, text)),
      element("th", { scope: "col", className: "wide" }, "why"),
    );
    const table = element(
      "table", { className: "links changed" },
      element("thead", {}, head), element("tbody", {}, ...changes.links.map((link) => this.row(link))),
    );
    const more = changes.total - changes.links.length;
    return more ? [table, element("p", { className: "note" }, `and ${count(more)} more`)] : [table];
  }

  row(link) {
    const same = link.before_name === link.after_name; // then the ends of their addresses tell them apart
    const [before, after] = same ? [lastPart(link.before), lastPart(link.after)] : [link.before_name, link.after_name];
    return element(
      "tr", { className: "link", on: { click: () => this.app.open(link.source, link.after || link.before) } },
      element("td", {}, element("button", { type: "button" }, link.source_name)),
      this.end(link.before, before, link.before_probability), this.end(link.after, after, link.after_probability),
      element("td", { className: "wide note" }, link.reason),
    );
  }

  end(iri, name, probability) {
    const score = this.app.look.scores && probability !== null ? element("span", { className: "label" }, ` ${percent(probability)}`) : "";
    return element("td", {}, iri ? name : element("span", { className: "unmatched" }, "no link"), score);
  }
}

const lastPart = (iri) => iri.split(/[/#]/).filter(Boolean).pop() ?? iri;

function facts({ decided, links, verdicts, authors, estimate }) {
  return element(
    "dl", { className: "facts large" },
    fact("decided", count(decided), `of ${count(links)} links: ${listed(verdicts, VERDICTS)}`),
    fact("by", count(Object.keys(authors).length), listed(authors)),
    share("precision, estimated", estimate.precision, estimate.checked),
    share("recall, estimated", estimate.recall, estimate.checked),
  );
}

function fact(name, value, note) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value), element("dd", { className: "note" }, note));
}

function share(name, given, checked) {
  if (!given) return fact(name, "–", "no random check is decided yet");
  const [value, low, high] = given.map((each) => (100 * each).toFixed(1));
  return fact(name, `${value} %`, `${low} to ${high} % (95 %), from ${count(checked)} random checks`);
}

function listed(numbers, words = {}) {
  return Object.entries(numbers).filter(([, number]) => number).map(([name, number]) => `${words[name] ?? name} ${count(number)}`).join(", ");
}

function conflicts(groups, app) {
  if (!groups.length) return [element("p", { className: "note" }, "There is none.")];
  return groups.map((group) =>
    element(
      "div", { className: "conflict" }, element("h3", {}, group.source_name),
      element("ul", { className: "last" }, ...group.decisions.map((each) => element("li", {}, ...decisionText(each, app.open), each.standing ? element("span", { className: "badge" }, "stands") : ""))),
    ),
  );
}
