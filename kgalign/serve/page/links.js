// The list of all links: sorted and filtered by the server, opened by a click, and accepted together above a line.
/* global element, count */
import { percent, shown, verdictOf } from "./item.js";
import { newId, read } from "./saving.js";

const byId = (id) => document.getElementById(id);
const PAGE = 50;

export class Links {
  // `app` has author, look, filters(), outbox, say(text), decided() and open(source, target).
  constructor(app) {
    this.app = app;
    this.sort = "probability";
    this.page = 0;
    this.asked = 0;
    this.counted = null; // what the server has said about the line
    for (const button of document.querySelectorAll("#table thead button")) button.addEventListener("click", () => this.sortBy(button.dataset.sort));
    byId("previous").addEventListener("click", () => { this.page--; this.refresh(); });
    byId("following").addEventListener("click", () => { this.page++; this.refresh(); });
    byId("accept-line").addEventListener("input", () => this.countSoon());
    byId("accept").addEventListener("submit", (event) => { event.preventDefault(); this.accept(); });
  }

  sortBy(column) {
    this.sort = this.sort === column ? `-${column}` : column;
    this.page = 0;
    this.refresh();
  }

  // Asks for the page of the list that is shown, and for the count above the line.
  async refresh(first = false) {
    if (first) this.page = 0;
    const asked = ++this.asked;
    this.countSoon();
    try {
      const { rows, total } = await read("links", { ...this.app.filters(true), offset: this.page * PAGE, limit: PAGE, sort: this.sort });
      if (asked === this.asked) this.show(rows, total);
    } catch (error) {
      this.app.say(error.message);
    }
  }

  show(rows, total) {
    const pages = Math.max(1, Math.ceil(total / PAGE));
    const made = rows.map((row) => this.row(row));
    if (!made.length) made.push(element("tr", {}, element("td", { colSpan: 5, className: "note" }, "No link fits. Change or clear the filters.")));
    byId("rows").replaceChildren(...made);
    byId("page").textContent = `${count(total)} ${total === 1 ? "link" : "links"}, page ${count(this.page + 1)} of ${count(pages)}`;
    byId("previous").disabled = this.page === 0;
    byId("following").disabled = this.page >= pages - 1;
    for (const header of document.querySelectorAll("#table thead button")) {
      const cell = header.parentElement, column = this.sort.replace("-", "");
      if (header.dataset.sort === column) cell.setAttribute("aria-sort", this.sort === column ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    }
  }

  row(row) {
    const look = this.app.look;
    const open = element("button", { type: "button" }, shown({ iri: row.source, name: row.source_name, latin: row.source_latin }, look));
    const target = row.target ? shown({ iri: row.target, name: row.target_name, latin: row.target_latin }, look) : element("span", { className: "unmatched" }, "no match at all");
    const verdict = [row.verdict ? verdictOf(row.verdict, row.target) : "", row.author ? element("span", { className: "label" }, ` ${row.author}`) : ""];
    if (row.conflict) verdict.push(element("span", { className: "badge" }, "conflict"));
    const made = element(
      "tr", { className: "link" },
      element("td", {}, open), element("td", {}, target), element("td", { className: "wide" }, row.class), element("td", { className: "decided" }, ...verdict),
      element("td", { className: "number score" }, percent(row.probability)),
    );
    made.addEventListener("click", () => this.app.open(row.source, row.target));
    return made;
  }

  line() { return Number(byId("accept-line").value); }

  countSoon() {
    byId("accept-value").value = this.line().toFixed(2);
    this.counted = null;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.count(), 150);
  }

  async count() {
    const asked = { line: this.line(), filters: this.app.filters() };
    const said = byId("accept-said"), button = byId("accept").querySelector("button");
    try {
      const found = await read("above", { line: asked.line, ...asked.filters });
      if (asked.line !== this.line()) return;
      this.counted = { ...asked, ...found };
      said.textContent = `${count(found.links)} undecided ${found.links === 1 ? "link" : "links"}; ${expected(found.probably_wrong)} will probably be wrong.`;
      button.disabled = !found.links;
    } catch (error) {
      said.textContent = error.message;
    }
  }

  async accept() {
    if (!this.counted) await this.count();
    const found = this.counted;
    if (!found || !found.links) return;
    byId("confirm-text").textContent = `${count(found.links)} ${found.links === 1 ? "link becomes a match" : "links become matches"}, decided by ${this.app.author}. By their probabilities, ${expected(found.probably_wrong)} of them will be wrong. One undo (z) takes all of them back.`;
    const dialog = byId("confirm-dialog");
    dialog.returnValue = "no";
    dialog.showModal();
    await new Promise((closed) => dialog.addEventListener("close", closed, { once: true }));
    if (dialog.returnValue !== "yes") return;
    try {
      const { accepted } = await this.app.outbox.change("accept", { author: this.app.author, line: found.line, filters: found.filters, links: found.links, request: newId() });
      this.app.say(`Saved. ${count(accepted)} ${accepted === 1 ? "link" : "links"} accepted together.`, true);
      this.app.decided();
    } catch (error) {
      this.app.say(`Not accepted: ${error.message}`);
    }
    this.refresh();
  }
}

const expected = (number) => (number < 1 ? (number < 0.05 ? "none" : "less than one") : `about ${count(Math.round(number))}`);
