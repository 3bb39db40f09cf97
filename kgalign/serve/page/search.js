// The search in both graphs: opens a link, or puts an entity of the target beside the source that is shown.
/* global element, count */
import { shown, verdictOf } from "./item.js";
import { read } from "./saving.js";

const byId = (id) => document.getElementById(id);
const MOST = 20;

// `app` has look, current() (the item that is shown) and open(source, target).
export function startSearch(app) {
  const dialog = byId("search-dialog"), field = byId("search-text"), said = byId("search-said"), list = byId("found");
  let asked = 0, timer;

  function go(source, target) {
    dialog.close();
    app.open(source, target);
  }

  function result(row) {
    const ours = row.source && shown({ iri: row.source, name: row.source_name, latin: row.source_latin }, app.look);
    const theirs = row.target && shown({ iri: row.target, name: row.target_name, latin: row.target_latin }, app.look);
    const made = element("li", {}), item = app.current();
    const text = ours && theirs ? `${ours} = ${theirs}` : ours ? `${ours}, without a link` : `${theirs}, without a link`;
    const where = element("span", { className: "label" }, ` ${row.side}${row.verdict ? `, ${verdictOf(row.verdict, row.target)}` : ""}`);
    if (ours) made.append(element("button", { type: "button", on: { click: () => go(row.source, row.target) } }, text, where));
    else made.append(element("span", {}, text, where));
    if (theirs && item && row.source !== item.source.iri)
      made.append(element("button", { type: "button", className: "text", "aria-label": `Is ${theirs} the same as ${shown(item.source, app.look)}?`, on: { click: () => go(item.source.iri, row.target) } }, "compare"));
    return made;
  }

  async function search() {
    const text = field.value.trim(), own = ++asked;
    if (!text) {
      list.replaceChildren();
      said.textContent = "";
      return;
    }
    try {
      const rows = await read("search", { text, limit: MOST });
      if (own !== asked) return;
      list.replaceChildren(...rows.map(result));
      const found = rows.length === MOST ? `the first ${MOST}` : rows.length ? `${count(rows.length)} found` : "nothing found", item = app.current();
      said.textContent = list.querySelector(".text") ? `${found}; compare puts one beside ${shown(item.source, app.look)}` : found;
    } catch (error) {
      said.textContent = error.message;
    }
  }

  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 150); });
  dialog.addEventListener("keydown", (event) => {
    const buttons = [field, ...list.querySelectorAll("button")], at = buttons.indexOf(document.activeElement);
    if (event.key === "Enter" && document.activeElement === field) { event.preventDefault(); list.querySelector("button")?.click(); }
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      buttons[Math.max(0, Math.min(buttons.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)))].focus();
    }
  });
  return () => {
    field.value = "";
    list.replaceChildren();
    said.textContent = "";
    dialog.showModal();
    field.focus();
  };
}
