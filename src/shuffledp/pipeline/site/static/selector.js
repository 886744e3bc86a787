// The selector: the fields choose the nearest computed setting; the page shows the first one without this script.
"use strict";
{
  const { sizes, printed, settings, pages, remarks } = window.shuffledpSelector;
  const section = document.querySelector(".ranked");
  const form = section.querySelector("form");
  const table = section.querySelector("table");
  const groupLine = section.querySelector("template").content.querySelector("tr");
  const exampleRow = table.querySelector("tr:not(.trust) td").closest("tr").cloneNode(true);
  const NUMBERS = {
    users: [2, true], size: [1, true], eps: [0, false], delta: [0, false], rounds: [1, true],
  };
  const wordOf = (name, task) => ({ users: "n", size: sizes[task][0], rounds: "releases" })[name] ?? name;

  const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });
  const put = (row, name, text) => {
    row.querySelector(`[data-field="${name}"]`).textContent = text;
  };
  const lineAt = (place) => {
    const line = exampleRow.querySelector("line").cloneNode();
    for (const end of ["x1", "x2"]) line.setAttribute(end, `${place}%`);
    return line;
  };
  const labelAt = (place, text) => {
    const label = table.querySelector("thead text").cloneNode();
    label.setAttribute("x", `${place}%`);
    label.textContent = text;
    return label;
  };
  const rowOf = (offer, lines) => {
    const row = exampleRow.cloneNode(true);
    for (const name of ["protocol", "mse", "half_width", "in_users", "messages", "most", "bits", "local", "guarantee", "evaluated"]) put(row, name, offer[name]);
    put(row, "remark", remarks[offer.protocol] ?? "");
    const name = pages.includes(offer.protocol) ? element("a", offer.label) : document.createTextNode(offer.label);
    if (name.tagName) name.href = `protocols/${offer.protocol}.html`;
    row.querySelector("th span").replaceChildren(name);
    const mark = row.querySelector("circle");
    mark.setAttribute("cx", `${offer.place}%`);
    mark.parentNode.replaceChildren(...lines.map((line) => line.cloneNode()), mark);
    row.querySelector(".effect").className = `effect g-${offer.guarantee}`;
    return row;
  };
  const groupOf = ([trust, offers], lines) => {
    const body = document.createElement("tbody");
    body.setAttribute("role", "rowgroup");
    const head = groupLine.cloneNode(true);
    put(head, "trust", trust);
    body.append(head, ...offers.map((offer) => rowOf(offer, lines)));
    return body;
  };

  // The numbers typed, or null; a field with another text is marked.
  const read = () => {
    const wanted = { task: form.elements.task.value, accounting: form.elements.accounting.value };
    let valid = true;
    for (const [name, [least, whole]] of Object.entries(NUMBERS)) {
      const field = form.elements[name];
      const text = field.value.replaceAll(",", "").trim();
      const value = Number(text);
      const fits = text !== "" && (whole ? Number.isInteger(value) && value >= least : value > least) && Number.isFinite(value) && (name !== "delta" || value < 1);
      field.setAttribute("aria-invalid", String(!fits));
      valid &&= fits;
      wanted[name] = value;
    }
    return valid ? wanted : null;
  };
  // Releases change the order of protocols most: several ones are compared with several ones alone.
  const distance = (setting, wanted) =>
    Object.keys(NUMBERS).reduce(
      (sum, name) => sum + (name === "delta" ? 0.2 : 1) * Math.abs(Math.log(setting[name] / wanted[name])),
      0,
    );
  const nearest = (wanted) => {
    const alike = settings.filter(
      ({ task, accounting, rounds }) =>
        task === wanted.task && accounting === wanted.accounting && rounds > 1 === wanted.rounds > 1,
    );
    return alike.reduce((best, other) => (best && distance(best, wanted) <= distance(other, wanted) ? best : other), null);
  };
  const command = ({ task, users, size, rounds, accounting }) =>
    `shuffledp compare --users ${users} --${sizes[task][1]} ${size} ` +
    `--eps ${form.elements.eps.value.trim()} --delta ${form.elements.delta.value.trim()}` +
    (rounds > 1 ? ` --rounds ${rounds}` : "") + (accounting === printed ? ` --accounting ${printed}` : "");
  const grouped = (number) => (Number.isInteger(number) ? number.toLocaleString("en-US") : String(number));
  const words = ({ task, users, size, eps, delta, rounds }) =>
    `${form.elements.task.querySelector(`[value="${task}"]`).text}, ${grouped(users)} users, ${sizes[task][0]} = ${grouped(size)}, eps = ${eps}, delta = ${delta.toExponential()}` +
    (rounds > 1 ? `, ${rounds} releases to the same users` : "");

  const show = () => {
    section.querySelector(".size-label").textContent = sizes[form.elements.task.value][0];
    const status = section.querySelector(".nearest");
    const wanted = read();
    if (!wanted) {
      status.textContent = "Users n: a whole number from 2; releases and sizes: from 1; eps above 0; delta between 0 and 1.";
      return;
    }
    section.querySelector(".command code").textContent = command(wanted);
    for (const body of [...table.tBodies]) body.remove();
    const setting = nearest(wanted);
    table.hidden = !setting;
    status.classList.toggle("note", !setting || Object.keys(NUMBERS).some((name) => setting[name] !== wanted[name]));
    if (!setting) {
      section.querySelector(".words").textContent = words(wanted);
      status.textContent = "No such setting is kept here: run the command.";
      return;
    }
    const other = Object.keys(NUMBERS).filter((name) => setting[name] !== wanted[name]);
    status.textContent = other.length
      ? `The nearest computed setting. It differs from yours in ${other.map((name) => wordOf(name, wanted.task)).join(", ")}: run the command for your numbers.`
      : "Computed for exactly your numbers.";
    section.querySelector(".words").textContent = words(setting);
    table.append(...setting.groups.map((group) => groupOf(group, setting.ticks.map(([place]) => lineAt(place)))));
    table.querySelector("thead .axis").replaceChildren(...setting.ticks.map(([place, text]) => labelAt(place, text)));
  };
  const copy = section.querySelector(".copy");
  copy.addEventListener("click", () => {
    navigator.clipboard.writeText(section.querySelector(".command code").textContent).then(() => {
      copy.textContent = "Copied";
    });
  });
  form.addEventListener("input", () => {
    copy.textContent = "Copy";
    show();
  });
  // A change of the task needs sizes that were computed for it.
  form.elements.task.addEventListener("input", () => {
    form.elements.size.value = settings.find(({ task }) => task === form.elements.task.value).size;
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  copy.hidden = !navigator.clipboard;
  show();
}
