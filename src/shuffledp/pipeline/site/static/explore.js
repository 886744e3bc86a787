// A figure's chart, drawn anew from its numbers: curves can be hidden, values and standard errors show at the pointer.
"use strict";

{
  const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
  let stages = 0;
  const nothing = (value) => value ?? NaN;
  const SHAPES = {
    circle: "M12 3a5 5 0 1 1 0 10a5 5 0 1 1 0-10",
    square: "M7.5 3.5h9v9h-9z",
    triangle: "M12 2.5l5.5 10h-11z",
    diamond: "M12 1.5l5 6.5l-5 6.5l-5-6.5z",
    inverted_triangle: "M12 13.5l5.5-10h-11z",
    plus: "M10 3h4v3h3v4h-3v3h-4v-3h-3v-4h3z",
    x: "M7 3l10 10M17 3l-10 10",
    cross: "M12 2v12M6 8h12",
    hex: "M9 3.5h6l3 4.5l-3 4.5h-6l-3-4.5z",
    square_pin: "M7 3q5 2 10 0q-2 5 0 10q-5-2-10 0q2-5 0-10",
    star: "M12 2l1.8 4.2l4.4.4l-3.3 3l1 4.4l-3.9-2.4l-3.9 2.4l1-4.4l-3.3-3l4.4-.4z",
  };

  // What stands before a curve's name: its line and its marker.
  const sample = (curve) => {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("viewBox", "0 0 24 16");
    svg.setAttribute("aria-hidden", "true");
    const kinds = new Set(curve.parts.map((part) => part.kind));
    const shapes = [];
    const level = kinds.has("level");
    if (level || [...kinds].some((kind) => kind !== "points")) shapes.push(["M0 8h24", (level ? [6, 3] : curve.dash).join(" ")]);
    if (["points", "marked", "path"].some((kind) => kinds.has(kind))) shapes.push([SHAPES[curve.marker], ""]);
    for (const [way, dash] of shapes) {
      const path = document.createElementNS(space, "path");
      path.setAttribute("d", way);
      path.setAttribute("fill", "none");
      path.setAttribute("stroke", curve.color);
      path.setAttribute("stroke-width", "2");
      path.setAttribute("stroke-dasharray", dash);
      svg.append(path);
    }
    return svg;
  };

  const axis = (about) => (about.log ? "log" : "linear");

  // Limits of an axis over all panels, so that panels can be compared.
  const limits = (chart, name) => {
    const values = [];
    for (const curve of chart.curves)
      for (const part of curve.parts)
        part[name].forEach((value, i) => {
          if (value === null || part.y[i] === null) return;
          const error = name === "y" ? (part.error?.[i] ?? 0) : 0;
          values.push(...[value - error, value + error].filter((each) => !chart[name].log || each > 0));
        });
    if (!values.length) return undefined;
    const scale = chart[name].log ? Math.log10 : (value) => value;
    const back = chart[name].log ? (value) => 10 ** value : (value) => value;
    const low = scale(values.reduce((a, b) => Math.min(a, b)));
    const high = scale(values.reduce((a, b) => Math.max(a, b)));
    const room = 0.05 * (high - low || Math.abs(high) || 1);
    return [back(low - room), back(high + room)];
  };

  const WORDS = { points: "simulated", line: "closed form", marked: "computed", path: "along the curve", level: "level" };

  // What shows at the pointer: HTML, because the values differ in kind; texts are those of the figure.
  const escaped = (words) => String(words).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const told = (curve, rows) =>
    [`<b>${escaped(curve.label)}</b>`, ...rows.filter(([, value]) => value !== null).map(([name, value]) => `${escaped(name)}: ${escaped(value)}`)].join(
      "<br>",
    );

  const addPart = (figure, curve, part, chart, ends, formula) => {
    const source = (data) => new Bokeh.ColumnDataSource({ data });
    const y = part.y.map(nothing);
    if (part.kind === "level") {
      const about = told(curve, [[chart.y.label, part.y[0]], ["at every value of", chart.x.label]]);
      const data = { x: ends, y: [y[0], y[0]], about: [about, about] };
      const look = { source: source(data), line_color: curve.color, line_width: 2, line_dash: [6, 3] };
      const line = figure.line({ field: "x" }, { field: "y" }, look);
      return { renderers: [line], hovered: line, points: [] };
    }
    const count = part.x.length;
    const error = part.error ?? Array(count).fill(null);
    const bound = (sign) =>
      y.map((value, i) => {
        if (error[i] === null) return NaN;
        const end = value + sign * error[i];
        return chart.y.log && end <= 0 ? value / 1e3 : end;
      });
    const expected = new Map(formula?.x.map((x, i) => [x, formula.y[i]]));
    const about = part.x.map((x, i) =>
      told(curve, [
        [chart.x.label, chart.x.names[x] ?? x],
        [`${chart.y.label} (${WORDS[part.kind]})`, part.y[i]],
        ["standard error", error[i]],
        ["repeats", part.count?.[i] ?? null],
        ["closed form", expected.get(x) ?? null],
      ]),
    );
    const values = source({ x: part.x.map(nothing), y, low: bound(-1), high: bound(1), about });
    const look = { source: values, line_color: curve.color };
    const renderers = [];
    if (part.kind !== "points")
      renderers.push(figure.line({ field: "x" }, { field: "y" }, { ...look, line_width: 2, line_dash: curve.dash }));
    if (part.error) renderers.push(figure.segment({ field: "x" }, { field: "low" }, { field: "x" }, { field: "high" }, { ...look, line_width: 1 }));
    const seen = part.kind === "points" || (part.kind !== "line" && count <= 40);
    const marks = figure.scatter(
      { field: "x" },
      { field: "y" },
      { ...look, marker: curve.marker, size: 8, line_width: 1.6, line_alpha: seen ? 1 : 0, fill_alpha: 0 },
    );
    renderers.push(marks);
    return { renderers, hovered: marks, points: part.x.map((x, i) => ({ x, y: part.y[i], about: about[i] })) };
  };

  const drawPanel = (chart, index, stage, hidden, tell) => {
    const ranges = { x_range: limits(chart, "x"), y_range: limits(chart, "y") };
    const narrow = stage.clientWidth < 560;
    const figure = Bokeh.Plotting.figure({
      ...Object.fromEntries(Object.entries(ranges).filter(([, range]) => range)),
      x_axis_type: axis(chart.x),
      y_axis_type: axis(chart.y),
      x_axis_label: chart.x.label,
      y_axis_label: chart.y.label,
      height: narrow ? 320 : 440,
      sizing_mode: "stretch_width",
      tools: narrow ? "" : "pan,box_zoom,wheel_zoom,reset,save",
      active_scroll: null,
      toolbar_location: narrow ? null : "above",
    });
    if (figure.toolbar) figure.toolbar.logo = null;
    for (const each of [...figure.xaxis, ...figure.yaxis]) {
      each.axis_label_text_font = each.major_label_text_font = FONT;
      each.axis_label_text_font_style = "normal";
      each.axis_label_text_font_size = each.major_label_text_font_size = "13px";
    }
    if (chart.x.names.length) {
      figure.xaxis[0].ticker = new Bokeh.FixedTicker({ ticks: chart.x.names.map((_, place) => place) });
      figure.xaxis[0].major_label_overrides = new Map(chart.x.names.map((name, place) => [place, name]));
    }
    const ends = ranges.x_range ?? [0, 1];
    const hovered = [];
    const drawn = chart.curves.map((curve, i) => {
      const parts = curve.parts.filter((part) => part.panel === index);
      const formula = parts.find((part) => part.kind === "line");
      const measured = parts.find((part) => part.kind === "points");
      const added = parts.map((part) => addPart(figure, curve, part, chart, ends, part === measured ? formula : null));
      // Where both are drawn, the measured points say the closed form, too.
      added.forEach((each, j) => parts[j] === formula && measured || hovered.push(each.hovered));
      const renderers = added.flatMap((each) => each.renderers);
      for (const renderer of renderers) renderer.visible = !hidden.has(curve.label);
      return { renderers, points: added.flatMap((each, j) => (parts[j] === formula && measured ? [] : each.points)) };
    });
    figure.add_tools(new Bokeh.HoverTool({ renderers: hovered, tooltips: '<div class="values">@about{safe}</div>' }));
    // A finger has no hovering: what is nearest to a tap is told below the chart.
    const place = (value, about, [low, high]) => {
      const scale = about.log ? Math.log : (each) => each;
      return (scale(value) - scale(low)) / (scale(high) - scale(low));
    };
    figure.on_event("tap", (event) => {
      const shown = chart.curves.flatMap((curve, i) => (hidden.has(curve.label) ? [] : drawn[i].points));
      const near = { away: 0.1, about: "" };
      for (const { x, y, about } of shown) {
        if (x === null || y === null) continue;
        const across = place(x, chart.x, ranges.x_range) - place(event.x, chart.x, ranges.x_range);
        const up = place(y, chart.y, ranges.y_range) - place(event.y, chart.y, ranges.y_range);
        const away = Math.hypot(across, up);
        if (away < near.away) Object.assign(near, { away, about });
      }
      tell(near.about);
    });
    return { figure, drawn };
  };

  // Puts the chart of one entry into an element, with a switch per panel and a button per curve.
  window.shuffledpExplore = async (stage, chart, title) => {
    const hidden = stage.hiddenCurves ?? new Set();
    stage.replaceChildren();
    if (!chart) {
      stage.textContent = "There are no numbers to explore here.";
      return;
    }
    const plot = document.createElement("div");
    plot.className = "plot";
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", `Chart: ${title} The values are in the CSV file.`);
    const values = Object.assign(document.createElement("p"), { className: "values" });
    values.setAttribute("role", "status");
    const tell = (about) => (values.innerHTML = about);
    let panel = Math.min(stage.panel ?? 0, chart.panels.length - 1);
    let now = null;
    const draw = async () => {
      plot.replaceChildren();
      tell("");
      now = drawPanel(chart, panel, stage, hidden, tell);
      await Bokeh.Plotting.show(now.figure, plot);
    };

    if (chart.panels.length > 1) {
      const tabs = document.createElement("fieldset");
      tabs.className = "tabs panels";
      tabs.append(Object.assign(document.createElement("legend"), { className: "hidden", textContent: "Panel" }));
      const own = `page-panel-${++stages}`;
      chart.panels.forEach((label, i) => {
        const input = Object.assign(document.createElement("input"), { type: "radio", name: own, id: `${own}-${i}`, checked: i === panel });
        input.addEventListener("change", (event) => {
          event.stopPropagation(); // this is not the switch of the card
          stage.panel = panel = i;
          draw();
        });
        tabs.append(input, Object.assign(document.createElement("label"), { htmlFor: input.id, textContent: label }));
      });
      stage.append(tabs);
    }

    const legend = document.createElement("div");
    legend.className = "curves";
    legend.setAttribute("role", "group");
    legend.setAttribute("aria-label", "Curves shown");
    stage.hiddenCurves = hidden;
    chart.curves.forEach((curve, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", String(!hidden.has(curve.label)));
      button.append(sample(curve), curve.label);
      button.addEventListener("click", () => {
        hidden.has(curve.label) ? hidden.delete(curve.label) : hidden.add(curve.label);
        button.setAttribute("aria-pressed", String(!hidden.has(curve.label)));
        for (const renderer of now.drawn[i].renderers) renderer.visible = !hidden.has(curve.label);
      });
      legend.append(button);
    });
    stage.append(plot, values, legend);
    await draw();
  };
}
