// The queue: shows one link after the other, takes decisions about what is shown, and takes them back.
/* global element */
import { decisionText, drawGraphs, drawItem, pairOf, shown, verdictOf } from "./item.js";
import { newId, read, Refused } from "./saving.js";

const byId = (id) => document.getElementById(id);
const capital = (text) => text[0].toUpperCase() + text.slice(1);

export class Queue {
  // `app` has author, look, filters(), outbox, say(text), decided() and show(view).
  constructor(app) {
    this.app = app;
    this.item = null;
    this.busy = false; // what is shown is not what is asked about any more
    this.past = []; // the items that were decided on this page
    this.asked = 0; // answers to questions before the last one are not shown
  }

  // While it waits, nothing is decided: what comes next has not been seen.
  waiting(is) {
    this.busy = is;
    byId("item").classList.toggle("waiting", is);
    byId("item").setAttribute("aria-busy", String(is));
  }

  // Asks for the next link of the queue and shows it.
  async next() {
    const asked = ++this.asked;
    this.waiting(true);
    try {
      const item = await read("next", { author: this.app.author, ...this.app.filters() });
      if (asked === this.asked) this.show(item);
    } catch (error) {
      if (asked === this.asked) this.failed(error, () => this.next());
    }
  }

  // Shows any pair, or a source by itself.
  async open(source, target = "", drawn = "", why = "") {
    const asked = ++this.asked;
    this.app.show("queue");
    this.waiting(true);
    try {
      const item = await read("item", { source, target });
      if (asked === this.asked) this.show(drawn ? { ...item, drawn, why } : item);
    } catch (error) {
      if (asked !== this.asked) return;
      this.app.say(error.message);
      this.waiting(false);
    }
  }

  show(item) {
    this.item = item;
    this.waiting(false);
    byId("actions").hidden = !item || this.app.view !== "queue";
    Object.assign(byId("item").dataset, { source: item?.source.iri ?? "", target: item?.target?.iri ?? "", drawn: item?.drawn ?? "" });
    if (item) this.draw();
    else byId("item").replaceChildren(element("h1", { id: "question", tabIndex: -1 }, "Nothing is left to decide"), element("p", { className: "note" }, "All links that the filters let through are decided, left to others by you, or with others now. Clear the filters, or open any link under Links."));
    byId("question").focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  draw() { if (this.item) drawItem(byId("item"), this.item, this.app.look, (target) => this.choose(target), (source, target) => this.open(source, target)); }

  redraw() { if (this.item) drawGraphs(byId("item"), this.item, this.app.look); }

  // Shows another candidate of the same source; the one that is shown already is accepted.
  choose(target) {
    if (this.busy || !this.item) return;
    if (this.item.target && this.item.target.iri === target) return this.decide("match");
    this.open(this.item.source.iri, target, this.item.drawn, this.item.why);
  }

  number(number) {
    const found = this.item && this.item.candidates.find((each) => each.number === number);
    if (found) this.choose(found.target);
    else this.app.say(`There is no candidate ${number}.`);
  }

  // Decides about the pair that is shown, or about its source as a whole.
  async decide(verdict, whole = false) {
    const { item, app } = this;
    if (this.busy || !item) return;
    if (verdict === "match" && !item.target) return app.say("Choose a candidate first, by its number.");
    const target = whole || !item.target ? "" : item.target.iri;
    const pair = pairOf(verdict, shown(item.source, app.look), target && shown(item.target, app.look));
    this.waiting(true);
    this.past.push(item);
    const probability = target ? item.probability : null;
    const change = { author: app.author, source: item.source.iri, target, verdict, drawn: item.drawn, probability, request: newId() };
    try {
      await app.outbox.change("decide", change);
    } catch (error) {
      this.past.pop();
      app.say(`Not saved: ${error.message}`);
      if (this.item === item) this.show(item);
      return;
    }
    app.say(`Saved. ${capital(verdictOf(verdict, target))}: ${pair}.`, true);
    app.decided();
    if (this.item === item && this.busy) await this.next();
  }

  // Takes back the last decision of this author, and shows what it was about. While the server is away, what this page remembers is shown.
  async undo() {
    const { app } = this, last = this.past.pop();
    const change = app.outbox.change("undo", { author: app.author, request: newId() });
    if (this.busy && last && app.outbox.unsent().length > 1) this.show(last);
    try {
      const decision = await change;
      if (!decision) return app.say("There is nothing to take back.");
      app.decided();
      await this.open(decision.source, decision.target, decision.drawn);
      app.say(`Taken back: ${verdictOf(decision.verdict, decision.target)}${decision.batch ? ", with all that were accepted together" : ""}. Decide again, or z for the one before.`);
    } catch (error) {
      app.say(error.message);
    }
  }

  failed(error, again) {
    const why = error instanceof Refused ? error.message : `${error}`;
    this.item = null;
    this.waiting(false);
    byId("actions").hidden = true;
    byId("item").replaceChildren(
      element("h1", { id: "question", tabIndex: -1 }, "The review cannot go on"), element("p", {}, why),
      element("p", { className: "note" }, "It goes on by itself when the server is back. If it was started anew, open the address that it has printed; nothing is lost."),
      element("button", { type: "button", className: "plain-button", on: { click: again } }, "Try again"),
    );
    if (error.status === 0 || error.status === 401 || error.status >= 500) setTimeout(() => { if (!this.item && byId("question")?.textContent === "The review cannot go on") again(); }, 3000);
  }

  last(decisions) {
    const rows = decisions.map((each) => element("li", {}, ...decisionText(each, (source, target) => this.open(source, target))));
    byId("last").replaceChildren(...(rows.length ? rows : [element("li", { className: "note" }, "none yet")]));
  }
}
