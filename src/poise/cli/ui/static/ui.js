// The pages ask the server and show what it answers: no number is computed here.
"use strict";

const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const one = (selector, inside = document) => inside.querySelector(selector);

// ---- asking ---------------------------------------------------------------------------------

async function ask(address, options = {}) {
  const answer = await fetch(address, { headers: { Accept: "application/json" }, ...options });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error || `The server answered ${answer.status}.`);
  return content;
}

function post(address, content) {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  return ask(address, { method: "POST", headers, body: JSON.stringify(content) });
}

function say(problem) {
  for (const place of all('[data-piece="error"]')) place.textContent = problem;
}

// The server has escaped what is in a piece.
function put(answer) {
  for (const [name, html] of Object.entries(answer.pieces || {})) {
    for (const place of all(`[data-piece="${name}"]`)) {
      if (place.innerHTML !== html) place.innerHTML = html;
    }
  }
  for (const [name, figure] of Object.entries(answer.figures || {})) draw(name, figure);
}

// ---- pictures -------------------------------------------------------------------------------

const drawn = new Map();

function coloured(value, style) {
  if (typeof value === "string" && value.startsWith("@")) {
    return style.getPropertyValue(`--${value.slice(1)}`).trim();
  }
  if (Array.isArray(value)) return value.map((each) => coloured(each, style));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, coloured(v, style)]));
  }
  return value;
}

function draw(name, figure) {
  const place = one(`[data-figure="${name}"]`);
  drawn.set(name, figure);
  if (!place || !window.Plotly) return; // it is large, and comes after this script
  const first = !place.classList.contains("js-plotly-plot");
  const { data, layout } = coloured(figure, getComputedStyle(document.documentElement));
  const touched = Boolean(one("form[data-ask] [name=epsilon]"));
  const config = { displayModeBar: false, responsive: true, edits: { shapePosition: touched } };
  Plotly.react(place, data, layout, config);
  if (first && touched) {
    place.on("plotly_relayout", (moved) => dragged(drawn.get(name).layout.shapes, moved));
  }
}

// A line that was dragged in a picture moves its slider.
function dragged(shapes, moved) {
  for (const [key, value] of Object.entries(moved)) {
    const found = /^shapes\[(\d+)\]\.(x0|y0)$/.exec(key);
    const name = found && shapes[found[1]].name;
    if ((name === "epsilon" && found[2] === "x0") || (name === "delta" && found[2] === "y0")) {
      setValue(name, String(Math.max(0, Number(Number(value).toPrecision(4)))));
    }
  }
}

function redraw() {
  for (const [name, figure] of drawn) draw(name, figure);
}
document.addEventListener("DOMContentLoaded", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
matchMedia("print").addEventListener("change", redraw);

// ---- questions: a form whose every change is asked at once ------------------------------------

function setValue(name, value) {
  const exact = document.getElementById(name);
  if (!exact) return;
  exact.value = value;
  exact.dispatchEvent(new Event("input", { bubbles: true }));
}

function asks(form) {
  const running = new Map();

  const show = () => {
    for (const range of all("input[type=range]", form)) {
      range.value = document.getElementById(range.dataset.for).value;
    }
  };

  // One request at a time for each address; what was moved meanwhile is asked when it is back.
  const send = async (address) => {
    if (running.has(address)) return running.set(address, true);
    running.set(address, false);
    const query = new URLSearchParams(new FormData(form));
    try {
      put(await ask(`${address}?${query}`));
      say("");
    } catch (problem) {
      say(problem.message);
    }
    const again = running.get(address);
    running.delete(address);
    if (again) send(address);
  };

  const changed = () => {
    if (!form.checkValidity()) return;
    const query = new URLSearchParams(new FormData(form));
    history.replaceState(null, "", `${location.pathname}?${query}`);
    form.dataset.ask.split(" ").forEach(send);
  };

  form.addEventListener("input", (event) => {
    const range = event.target;
    if (range.dataset.for) {
      document.getElementById(range.dataset.for).value = Number(Number(range.value).toPrecision(4));
    } else {
      show();
    }
    changed();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    all("[data-set]", form).forEach((fixed) => {
      document.getElementById(fixed.dataset.set).value = fixed.dataset.value;
    });
    show();
    changed();
  });
  form.refresh = () => form.dataset.ask.split(" ").forEach(send);
  form.refresh();
}

// ---- the list of runs -------------------------------------------------------------------------

function lists(form) {
  const search = document.getElementById("q");
  const sort = one("input[name=sort]");
  let waiting = false;
  let again = false;

  const chosen = () => all("input[name=run]:checked", form).map((box) => box.value);
  const offer = () => {
    const button = document.getElementById("compare");
    if (button) button.hidden = chosen().length === 0;
  };

  form.refresh = async () => {
    if (waiting) { again = true; return; }
    waiting = true;
    const query = new URLSearchParams({ q: search.value, sort: sort.value });
    try {
      const answer = await fetch(`/rows?${query}`);
      if (answer.ok) {
        const kept = new Set(chosen());
        const focused = document.activeElement && document.activeElement.getAttribute("href");
        form.innerHTML = await answer.text();
        for (const box of all("input[name=run]", form)) box.checked = kept.has(box.value);
        if (focused) one(`a[href="${CSS.escape(focused)}"]`, form)?.focus();
        offer();
      }
    } catch { /* the banner says that the server is gone */ }
    waiting = false;
    if (again) { again = false; form.refresh(); }
  };

  search.addEventListener("input", () => {
    const query = new URLSearchParams({ q: search.value, sort: sort.value });
    history.replaceState(null, "", `/?${query}`);
    form.refresh();
  });
  form.addEventListener("click", (event) => {
    const heading = event.target.closest("a[data-sort]");
    if (!heading) return;
    event.preventDefault();
    sort.value = heading.dataset.sort;
    history.replaceState(null, "", heading.getAttribute("href"));
    form.refresh();
  });
  form.addEventListener("change", offer);
}

// ---- what is happening ------------------------------------------------------------------------

function watches() {
  const live = all("[data-live]");
  const banner = document.getElementById("lost");
  const source = new EventSource("/events");
  let first = true;
  source.addEventListener("runs", () => {
    banner.hidden = true;
    if (!first) live.forEach((part) => part.refresh && part.refresh());
    first = false;
  });
  source.addEventListener("open", () => { banner.hidden = true; });
  source.addEventListener("error", () => { banner.hidden = false; });
  addEventListener("pagehide", () => source.close());
}

// ---- buttons ----------------------------------------------------------------------------------

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.copy) {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } else if (button.dataset.set) {
    setValue(button.dataset.set, button.dataset.value);
  } else if (button.dataset.post) {
    button.disabled = true;
    try {
      button.textContent = (await post(button.dataset.post, {})).said;
    } catch (problem) {
      button.disabled = false;
      say(problem.message);
    }
  }
});

// ---- a new run --------------------------------------------------------------------------------

function options(select, names) {
  select.replaceChildren(...names.map((name) => new Option(name, name)));
}

function begins(form) {
  const get = (id) => document.getElementById(id);
  const attempt = async (work) => {
    try { await work(); say(""); } catch (problem) { say(problem.message); }
  };
  const chosen = () => attempt(async () => {
    const query = new URLSearchParams({ of: get("data").value });
    const answer = await ask(`/new/columns?${query}`);
    options(get("target"), answer.names);
    get("target").selectedIndex = answer.names.length - 1;
    get("rows").textContent = answer.said;
  });
  const named = () => attempt(async () => {
    const file = get("source").value;
    get("of-sklearn").hidden = Boolean(file);
    get("of-file").hidden = !file;
    if (file) {
      if (form.dataset.file !== file) {
        const query = new URLSearchParams({ of: file });
        options(get("name-in-file"), (await ask(`/new/names?${query}`)).names);
        form.dataset.file = file;
      }
      get("algorithm").value = `${file}:${get("name-in-file").value}`;
      put({ pieces: { parameters: "" } });
    } else {
      get("algorithm").value = get("place").value;
      put(await ask(`/new/parameters?${new URLSearchParams({ of: get("place").value })}`));
    }
  });
  const content = () => Object.fromEntries(new FormData(form));
  const busy = async (button, work) => {
    button.disabled = true;
    await attempt(work);
    button.disabled = false;
  };
  get("data").addEventListener("change", chosen);
  for (const id of ["source", "place", "name-in-file"]) get(id).addEventListener("change", named);
  get("preflight").addEventListener("click", (event) => {
    if (form.reportValidity()) {
      busy(event.target, async () => put(await post("/new/preflight", content())));
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(event.submitter, async () => {
      location.assign((await post("/new/start", content())).location);
    });
  });
  chosen();
  named();
}

// A page that is loaded again when something has happened, without losing the reader's place.
function reloads(part) {
  part.refresh = async () => {
    const page = new DOMParser().parseFromString(
      await (await fetch(location.href)).text(), "text/html");
    const fresh = page.getElementById("reloaded");
    const old = document.getElementById("reloaded");
    if (fresh && fresh.innerHTML !== old.innerHTML) old.innerHTML = fresh.innerHTML;
  };
  setInterval(part.refresh, 1000);
}

all("form[data-ask]").forEach(asks);
const runs = document.getElementById("runs");
if (runs) lists(runs);
const begun = document.getElementById("new");
if (begun) begins(begun);
all("[data-reload]").forEach(reloads);
watches();
