// What the decisions change: the run goes on with them, and its links are shown beside those before. Also the decisions that contradict each other.
/* global element, count */
import { decisionText, percent } from "./item.js";
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
    const { summary } = this;
    if (!summary) return;
    const { changes, estimate, verdicts, authors } = summary;
    const share = (given) => (given ? [element("dd", {}, `${(100 * given[0]).toFixed(1)} %`), element("dd", { className: "note" }, `${(100 * given[1]).toFixed(1)} to ${(100 * given[2]).toFixed(1)} % (95 %), from ${count(estimate.checked)} random checks`)] : [element("dd", {}, "–"), element("dd", { className: "note" }, "no random check is decided yet")]);
    const fact = (name, value, note = "") => element("div", {}, element("dt", {}, name), element("dd", {}, value), element("dd", { className: "note" }, note));
    const listed = (numbers) => Object.entries(numbers).filter(([, number]) => number).map(([name, number]) => `${name} ${count(number)}`).join(", ");
    const facts = element(
      "dl", { className: "facts large" },
      fact("decided", count(summary.decided), `of ${count(summary.links)} links: ${listed(verdicts)}`), fact("by", count(Object.keys(authors).length), listed(authors)),
      element("div", {}, element("dt", {}, "precision, estimated"), ...share(estimate.precision)), element("div", {}, element("dt", {}, "recall, estimated"), ...share(estimate.recall)),
    );
    const button = element("button", { type: "button", className: "strong-button", disabled: changes.running || !summary.since_run, on: { click: () => this.goOn() } }, "Go on with the decisions ", element("kbd", {}, "g"));
    const every = element("select", { "aria-label": "When the run goes on by itself" }, ...CHOICES.map((number) => element("option", { value: String(number), selected: number === this.every() }, number ? `after ${number} decisions` : "never")));
    every.addEventListener("change", () => kept.set(EVERY, every.value));
    const state = changes.running ? "The run goes on in the background; you can decide meanwhile." : summary.since_run ? `${this.decisions(summary.since_run)} since the run.` : "The run knows all decisions.";
    const made = [element("p", { className: "effect-said", role: "status" }, changes.total || changes.decisions ? `${changes.text}.` : "The run has not gone on yet."), element("p", {}, state)];
    if (changes.error) made.push(element("p", { className: "differs" }, `The run did not go on: ${changes.error}`));
    made.push(element("p", { className: "buttons" }, button, element("label", { className: "note" }, "by itself ", every)));
    if (changes.links.length) made.push(...this.table(changes));
    byId("effect-text").replaceChildren(...made, element("h3", {}, "So far"), facts);
  }

  table(changes) {
    const scores = this.app.look.scores;
    const end = (iri, name, probability) => element("td", {}, iri ? name : element("span", { className: "unmatched" }, "no match"), scores && probability !== null ? element("span", { className: "label" }, ` ${percent(probability)}`) : "");
    const last = (iri) => iri.split(/[/#]/).filter(Boolean).pop() ?? iri;
    const rows = changes.links.map((link) => {
      const [before, after] = link.before_name === link.after_name ? [last(link.before), last(link.after)] : [link.before_name, link.after_name];
      const open = element("button", { type: "button" }, link.source_name);
      const row = element(
        "tr", { className: "link", on: { click: () => this.app.open(link.source, link.after || link.before) } },
        element("td", {}, open), end(link.before, before, link.before_probability), end(link.after, after, link.after_probability), element("td", { className: "wide note" }, link.reason),
      );
      return row;
    });
    const head = element("tr", {}, ...["source", "before", "after"].map((text) => element("th", { scope: "col" }, text)), element("th", { scope: "col", className: "wide" }, "why"));
    const more = changes.total > changes.links.length ? [element("p", { className: "note" }, `and ${count(changes.total - changes.links.length)} more`)] : [];
    return [element("table", { className: "links changed" }, element("thead", {}, head), element("tbody", {}, ...rows)), ...more];
  }
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
