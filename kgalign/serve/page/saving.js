// What the page says to the server. A decision is kept in this browser until the server has answered, and is sent again until it has: its request id
// lets the server tell a repetition from a second decision. Nothing is lost if the server or the page goes away.

const PATIENCE = 20000; // milliseconds until a request is given up
const PAUSES = [1000, 2000, 4000, 8000, 15000]; // between tries
const TOKEN = "kgalign-token";

const memory = new Map(); // where the browser keeps nothing
export const kept = {
  get(key) { try { return localStorage.getItem(key) ?? memory.get(key) ?? null; } catch { return memory.get(key) ?? null; } },
  set(key, value) { memory.set(key, value); try { localStorage.setItem(key, value); } catch { /* the memory has it */ } },
  remove(key) { memory.delete(key); try { localStorage.removeItem(key); } catch { /* the same */ } },
  keys() { try { return [...new Set([...Object.keys(localStorage), ...memory.keys()])]; } catch { return [...memory.keys()]; } },
};

// The token comes with the address, after the #, which browsers send to nobody. It leaves the address bar and the history at once. All pages of
// this server read it from one place, so that a page that is still open works with the next server when that has been opened once.
export function takeToken() {
  const given = location.hash.slice(1);
  if (/^[\w-]{20,}$/.test(given)) {
    kept.set(TOKEN, given);
    history.replaceState(null, "", location.pathname);
  }
}

// A request id: 128 random bits. (crypto.randomUUID works on encrypted pages and on this machine alone.)
export function newId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Refused extends Error { // the server has answered that it will not
  constructor(message, status) { super(message); this.status = status; }
}

async function call(path, options = {}) {
  let answer;
  const headers = { Authorization: `Bearer ${kept.get(TOKEN) || "none"}`, ...options.headers };
  try {
    answer = await fetch(`api/${path}`, { ...options, headers, signal: AbortSignal.timeout(PATIENCE) });
  } catch {
    throw new Refused("the server does not answer; is kgalign review still running?", 0);
  }
  const text = await answer.text().catch(() => "");
  let value = null;
  try { value = JSON.parse(text); } catch { throw new Refused("the server has ended early", 0); }
  if (!answer.ok) throw new Refused(value?.error || `the server answers ${answer.status}`, answer.status);
  return value;
}

// What the server says, for parameters; empty ones are left out.
export function read(path, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return call(`${path}?${new URLSearchParams(given)}`);
}

// A change in words.
const said = (path, body) => (path === "decide" ? `${body.verdict}, ${body.source}${body.target ? ` and ${body.target}` : ""}` : path);

const willPass = (error) => error.status === 0 || error.status === 401 || error.status === 408 || error.status === 429 || error.status >= 500;

// The changes that the server has not confirmed, oldest first, of one file of decisions.
export class Outbox {
  constructor(log, onChange) {
    this.prefix = `kgalign-unsent ${log} `;
    this.onChange = onChange; // called with how many wait, why, and how it is: "away", "failing" or "refused"
    this.refused = new Map(); // why the server will not have a change for whose answer nobody waits any more, by key
    this.answers = new Map(); // who waits for the answer, by key
    this.number = 0;
    this.tries = 0;
    this.sending = null;
    this.again = false;
    for (const event of ["online", "focus", "pageshow"]) addEventListener(event, () => this.send());
    addEventListener("storage", () => this.send()); // another page may have the new token
  }

  waiting() { return kept.keys().filter((key) => key.startsWith(this.prefix)).sort(); }

  unsent() { return this.waiting().filter((key) => !this.refused.has(key)); }

  // Keeps a change, and resolves with the answer of the server, whenever that comes.
  change(path, body) {
    const key = `${this.prefix}${String(Date.now()).padStart(14, "0")} ${String(this.number++).padStart(6, "0")} ${body.request}`;
    kept.set(key, JSON.stringify({ path, body }));
    return new Promise((resolve, reject) => {
      this.answers.set(key, { resolve, reject });
      this.send();
    });
  }

  // Sends what waits, one after the other, until all is sent or the server is away.
  async send() {
    if (this.sending) this.again = true;
    clearTimeout(this.timer);
    this.sending ||= this.sendAll().finally(() => {
      this.sending = null;
      if (this.again) { this.again = false; this.send(); }
    });
    return this.sending;
  }

  async sendAll() {
    for (let key; (key = this.unsent()[0]); ) {
      const { path, body } = JSON.parse(kept.get(key));
      try {
        const answer = await call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
        this.done(key, (waiting) => waiting.resolve(answer));
      } catch (error) {
        if (willPass(error)) {
          this.timer = setTimeout(() => this.send(), PAUSES[Math.min(this.tries++, PAUSES.length - 1)]);
          return this.onChange(this.waiting().length, error.message, error.status >= 500 ? "failing" : "away");
        }
        if (this.answers.has(key)) this.done(key, (waiting) => waiting.reject(error));
        else this.refused.set(key, `${said(path, body)}: ${error.message}`); // the page that it comes from is gone, and nobody knows of it
      }
      this.tries = 0;
    }
    const left = this.waiting();
    this.onChange(left.length, this.refused.get(left[0]) ?? "", "refused");
  }

  // Tries everything again, also what was refused.
  retry() {
    this.refused.clear();
    return this.send();
  }

  // Gives up the oldest change, over which the server fails, or which it refuses.
  giveUp() {
    const key = this.waiting()[0];
    if (key) this.done(key, (waiting) => waiting.reject(new Refused("given up", 0)));
    this.send();
  }

  done(key, tell) {
    kept.remove(key);
    if (this.answers.has(key)) tell(this.answers.get(key));
    this.answers.delete(key);
  }
}
