// What the pages do beyond HTML and CSS. They can be read without it.
"use strict";

// A link to an erratum opens its details.
const unfold = () => {
  const named = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named && named.closest(".errata")) named.querySelector("details").open = true;
};
addEventListener("hashchange", unfold);
unfold();

// -- charts to explore: the library and the numbers are loaded when somebody asks for them ----------------------------

const loaded = new Map();
const load = (address) => {
  if (!loaded.has(address)) {
    loaded.set(
      address,
      new Promise((done, failed) => {
        const script = document.createElement("script");
        script.src = address;
        script.onload = done;
        script.onerror = () => failed(new Error(`${address} could not be loaded.`));
        document.head.append(script);
      }),
    );
  }
  return loaded.get(address);
};

const page = document.querySelector("main").dataset;
for (const button of document.querySelectorAll("button.explore")) {
  const card = button.closest(".card");
  const words = button.textContent;
  let stage = null;
  const draw = async () => {
    for (const address of page.scripts.split(" ")) await load(address);
    const chart = window.shuffledpCharts[page.paper][card.id];
    await window.shuffledpExplore(stage, chart, card.querySelector("h3").textContent);
    stage.dataset.entry = card.id;
  };
  const show = async () => {
    stage = document.createElement("div");
    stage.className = "stage";
    stage.textContent = "Loading…";
    card.querySelector(".bar").after(stage);
    card.classList.add("exploring");
    button.setAttribute("aria-pressed", "true");
    button.textContent = "Back to the picture";
    try {
      await draw();
    } catch (error) {
      stage.textContent = `The chart cannot be shown: ${error.message}`;
    }
  };
  const hide = () => {
    stage.remove();
    stage = null;
    card.classList.remove("exploring");
    button.setAttribute("aria-pressed", "false");
    button.textContent = words;
  };
  button.addEventListener("click", () => (stage ? hide() : show()));
  button.hidden = false;
}

// -- errata, claims and leaderboards: sort and filter ------------------------------------------------------------------

for (const table of document.querySelectorAll("table.errata, table.board")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const form = table.closest(".card, main").querySelector("form.filter");
  const chosen = [...form.querySelectorAll("select")];

  const filter = () => {
    const text = new FormData(form).get("text").trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      const fits = chosen.every(({ name, value }) => !value || row.dataset[name] === value);
      row.hidden = !(fits && words.get(row).includes(text));
      count += !row.hidden;
    }
    form.querySelector(".count").textContent = `${count} of ${rows.length}`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();

  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.sort ?? cell.querySelector("data")?.value ?? cell.firstElementChild?.textContent ?? cell.textContent;
    return text.trim();
  };
  const order = new Intl.Collator("en", { numeric: true });
  const isNumber = (text) => text !== "" && !isNaN(text);
  const compare = (a, b) => (isNumber(a) && isNumber(b) ? a - b : order.compare(a, b));
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.ariaSort === "ascending";
      for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
      head.ariaSort = down ? "descending" : "ascending";
      // In a column of numbers what has none comes last, whatever the direction.
      const missing = (text) => head.classList.contains("number") && !isNumber(text);
      const sorted = rows.toSorted((one, other) => {
        const [a, b] = [key(one, head.cellIndex), key(other, head.cellIndex)];
        return missing(a) - missing(b) || compare(a, b) * (down ? -1 : 1);
      });
      body.append(...sorted);
    });
  }
}
