// The ranking: fields choose a setting; the page shows the first one without this script.
"use strict";
{
  const settings = window.shuffledpRanking;
  const section = document.querySelector(".ranked");
  const form = section.querySelector("form");
  const fields = [...form.querySelectorAll("select")];
  const table = section.querySelector("table");
  const [head, line] = section.querySelector("template").content.querySelectorAll("tr");

  const put = (row, name, text) => {
    row.querySelector(`[data-field="${name}"]`).textContent = text;
  };
  const rowOf = (values) => {
    const row = line.cloneNode(true);
    for (const name of ["rank", "error", "over", "printed", "messages", "bits", "accounting", "guarantee"]) put(row, name, values[name]);
    const link = row.querySelector("a");
    link.textContent = values.label;
    link.href = link.dataset.folder + values.protocol + ".html";
    row.querySelector(".front").hidden = !values.front;
    const mark = row.querySelector("rect");
    mark.setAttribute("x", values.bar || 0);
    mark.setAttribute("width", values.bar ? 3 : 0);
    const badge = row.querySelector(".effect[data-field]");
    badge.className = `effect g-${values.guarantee}`;
    badge.title = values.why;
    return row;
  };
  const groupOf = ([trust, rows]) => {
    const body = document.createElement("tbody");
    body.setAttribute("role", "rowgroup");
    const first = head.cloneNode(true);
    put(first, "trust", trust);
    body.append(first, ...rows.map(rowOf));
    return body;
  };
  const fill = (field, values, chosen) => {
    const size = (text) => Number(text.replaceAll(",", ""));
    const shown = [...new Set(values)].sort((a, b) => size(a) - size(b));
    field.replaceChildren(...shown.map((text) => new Option(text || "–", text, false, text === chosen)));
  };
  const show = (setting) => {
    for (const body of [...table.tBodies]) body.remove();
    table.append(...setting.groups.map(groupOf));
    fields[0].value = setting.key[0];
    const same = settings.filter((other) => other.key[0] === setting.key[0]);
    fields.slice(1).forEach((field, i) => fill(field, same.map((other) => other.key[i + 1]), setting.key[i + 1]));
    form.querySelector(".count").textContent = setting.key.slice(1).filter(Boolean).length
      ? `${setting.groups.reduce((sum, [, rows]) => sum + rows.length, 0)} protocols`
      : "";
    section.querySelector(".scale").textContent = setting.scale;
    const command = section.querySelector(".command");
    command.hidden = !setting.command;
    command.querySelector("code").textContent = setting.command;
  };
  // Of the settings with the value just chosen, the one that keeps most of the others.
  form.addEventListener("change", ({ target }) => {
    const wanted = fields.map((field) => field.value);
    const place = fields.indexOf(target);
    const kept = (setting) => setting.key.filter((text, i) => text === wanted[i]).length + (setting.key[0] === wanted[0] ? 9 : 0);
    const fitting = settings.filter((setting) => setting.key[place] === wanted[place] && setting.key[0] === wanted[0]);
    show(place ? fitting.reduce((best, one) => (kept(one) > kept(best) ? one : best)) : fitting[0]);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  show(settings[0]);
}
