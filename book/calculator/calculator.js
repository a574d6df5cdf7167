// The calculator on the page of shapes and costs: from the shape of a model to parameters, operations, and bytes of
// scores and cache. All numbers are whole and as long as they need to be (BigInt), so none is rounded before it is shown.
// The formulas are those of attnlib.costs, which a test compares with them.
const costCalculator = (() => {
  "use strict";

  // Name, label, least value, and the value at the start: Llama 2 7B.
  const FIELDS = [
    ["layers", "Layers", 1, 32],
    ["m", "Model width m", 1, 4096],
    ["heads", "Query heads h", 1, 32],
    ["kv_heads", "Key/value heads G", 1, 32],
    ["d", "Features of a head d", 1, 128],
    ["hidden", "Hidden width of the MLP (0: no MLP)", 0, 11008],
    ["mlp_matrices", "Matrices of the MLP (3: with a gate)", 0, 3],
    ["vocabulary", "Vocabulary (0: leave it out)", 0, 32000],
    ["embeddings", "Matrices of the vocabulary (1: shared)", 0, 2],
    ["n", "Tokens of a text n", 1, 4096],
    ["batch", "Texts b", 1, 1],
    ["bytes", "Bytes of a number", 1, 2],
    ["latent", "Latent cache: numbers a token and layer", 1, 576],
    ["block_q", "Flash: queries of a tile", 1, 128],
  ];
  // The first nine fields of the models that chapter 10 compares; a test holds them against it.
  const PRESETS = {
    "GPT-3 175B": [96, 12288, 96, 96, 128, 49152, 2, 50257, 1],
    "Llama 2 7B": [32, 4096, 32, 32, 128, 11008, 3, 32000, 2],
    "Llama 2 70B": [80, 8192, 64, 8, 128, 28672, 3, 32000, 2],
    "Mistral 7B": [32, 4096, 32, 8, 128, 14336, 3, 32000, 2],
    "PaLM 540B": [118, 18432, 48, 1, 256, 73728, 3, 256000, 1],
  };
  const LARGEST = 10n ** 12n;

  // What is wrong with what was typed, and in which field; or nothing.
  function fault(typed) {
    for (const [name, label, least] of FIELDS) {
      const text = String(typed[name] ?? "").trim();
      const said = (what) => ({ name, text: `${label}: ${what}` });
      if (!text) return said("type a number.");
      if (/^[-\u2212]\s*\d/.test(text)) return said(`cannot be negative; it says ${text}.`);
      if (!/^\d+$/.test(text)) return said(`type a whole number in digits; it says “${text.slice(0, 20)}”.`);
      if (text.length > 30 || BigInt(text) > LARGEST) return said("that is too large; the most is 1,000,000,000,000.");
      if (BigInt(text) < least) return said(`must be at least ${least}; it says ${text}.`);
    }
    if (BigInt(typed.heads) % BigInt(typed.kv_heads)) {
      return { name: "kv_heads", text: `Key/value heads G: ${typed.kv_heads} does not divide the ${typed.heads} query heads.` };
    }
    return null;
  }

  // All costs of a shape that has no fault, as BigInt.
  function count(typed) {
    const s = Object.fromEntries(FIELDS.map(([name]) => [name, BigInt(typed[name])]));
    const projections = 2n * s.m * s.d * (s.heads + s.kv_heads);
    const weights = {
      attention: s.layers * projections,
      mlp: s.layers * s.mlp_matrices * s.m * s.hidden,
      vocabulary: s.embeddings * s.vocabulary * s.m,
    };
    const tokens = s.batch * s.n;
    const pairs = s.batch * s.heads * s.n * s.n;
    const flops = {
      projections: 2n * tokens * weights.attention,
      products: s.layers * pairs * 4n * s.d,
      elementwise: s.layers * pairs * 6n,
      mlp: 2n * tokens * weights.mlp,
      scores_of_vocabulary: 2n * tokens * s.vocabulary * s.m,
    };
    const cache = (heads) => 2n * s.batch * s.layers * s.n * heads * s.d * s.bytes;
    const tiles = (s.n + s.block_q - 1n) / s.block_q;
    const sum = (parts) => Object.values(parts).reduce((a, b) => a + b);
    return {
      parameters: sum(weights),
      parameters_attention: weights.attention,
      parameters_mlp: weights.mlp,
      parameters_vocabulary: weights.vocabulary,
      parameter_bytes: sum(weights) * s.bytes,
      flops: sum(flops),
      flops_projections: flops.projections,
      flops_products: flops.products,
      flops_elementwise: flops.elementwise,
      flops_mlp: flops.mlp,
      flops_vocabulary: flops.scores_of_vocabulary,
      scores_plain: pairs * s.bytes,
      scores_flash: s.batch * s.heads * s.n * (s.bytes > 4n ? s.bytes : 4n),
      cache_own: cache(s.heads),
      cache: cache(s.kv_heads),
      cache_one: cache(1n),
      cache_latent: s.batch * s.layers * s.n * s.latent * s.bytes,
      traffic_plain: s.batch * s.heads * (4n * s.n * s.n + 4n * s.n * s.d) * s.bytes,
      traffic_flash: s.batch * s.heads * (2n * s.n * s.d + s.n + tiles * s.n * 2n * s.d) * s.bytes,
    };
  }

  // Rows of the result: the count, its words, and whether it is in bytes. A row without a count is a heading.
  const ROWS = [
    ["", "Parameters"],
    ["parameters", "all"],
    ["parameters_attention", "projections of attention"],
    ["parameters_mlp", "MLP"],
    ["parameters_vocabulary", "vocabulary"],
    ["parameter_bytes", "in memory", true],
    ["", "Operations, one forward"],
    ["flops", "all"],
    ["flops_projections", "projections"],
    ["flops_products", "scores, and mean of values"],
    ["flops_elementwise", "softmax and scale"],
    ["flops_mlp", "MLP"],
    ["flops_vocabulary", "scores of the vocabulary"],
    ["", "Kept of the scores, one layer"],
    ["scores_plain", "plain: all weights", true],
    ["scores_flash", "Flash: a logsumexp a row", true],
    ["", "Cache, all layers"],
    ["cache", "as above, G heads", true],
    ["cache_own", "MHA: h heads", true],
    ["cache_one", "MQA: one head", true],
    ["cache_latent", "latent", true],
    ["", "Moved by attention, one layer"],
    ["traffic_plain", "plain, least possible", true],
    ["traffic_flash", "Flash", true],
  ];

  const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

  // Three digits that one can read: 6.74 × 10⁹, 2.00 GiB; small counts as they are.
  function readable(number, inBytes) {
    const step = inBytes ? 1024 : 1000;
    let value = Number(number);
    let power = 0;
    while (value >= (inBytes ? 1023.5 : 999.5) && (!inBytes || power < UNITS.length - 1)) {
      value /= step;
      power += 1;
    }
    const digits = power === 0 ? number.toString() : value >= 1e6 ? value.toExponential(2) : value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
    if (inBytes) return `${digits} ${UNITS[power]}`;
    return power ? `${digits} × 10${[...String(3 * power)].map((digit) => RAISED[digit]).join("")}` : digits;
  }

  const grouped = (number) => number.toString().replace(/\B(?=(\d{3})+$)/g, ",");

  function sentence(found) {
    const shown = (name, inBytes) => readable(found[name], inBytes);
    return (
      `${shown("parameters")} parameters; ${shown("flops")} operations forward; scores of one layer ` +
      `${shown("scores_plain", true)}, with Flash ${shown("scores_flash", true)}; cache ${shown("cache", true)}.`
    );
  }

  function setUp(box) {
    const make = (tag, properties, ...children) => {
      const element = Object.assign(document.createElement(tag), properties);
      element.append(...children);
      return element;
    };
    const status = make("p", { className: "cost-said", id: "cost-said" });
    status.setAttribute("role", "status");
    const inputs = {};
    const fields = FIELDS.map(([name, label, , start]) => {
      inputs[name] = make("input", { type: "text", inputMode: "numeric", autocomplete: "off", id: `cost-${name}`, value: start });
      return make("label", {}, make("span", { textContent: label }), inputs[name]);
    });
    const choice = make("select", { id: "cost-model" });
    choice.append(...Object.keys(PRESETS).map((name) => make("option", { textContent: name })), make("option", { textContent: "another shape" }));
    choice.value = "Llama 2 7B";
    const caption = make("caption", { textContent: "What this shape costs" });
    const table = make("table", { className: "values" }, caption);
    let wrong = null;

    // `announce`: say it, too. What is wrong is said at once, a result when a field is left or a model chosen.
    function show(announce) {
      const typed = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value.trim()]));
      const before = wrong;
      wrong = fault(typed);
      for (const [name, input] of Object.entries(inputs)) {
        for (const [attribute, value] of [["aria-invalid", "true"], ["aria-describedby", status.id]]) {
          if (wrong?.name === name) input.setAttribute(attribute, value);
          else input.removeAttribute(attribute);
        }
      }
      box.classList.toggle("cost-wrong", Boolean(wrong));
      table.hidden = Boolean(wrong);
      if (wrong) {
        if (wrong.text !== before?.text) status.textContent = wrong.text;
        return;
      }
      const found = count(typed);
      table.replaceChildren(caption, ...groups(found));
      if (announce || before) status.textContent = sentence(found);
    }

    function groups(found) {
      const bodies = [];
      for (const [name, words, inBytes] of ROWS) {
        if (!name) {
          const head = make("th", { textContent: words, scope: "rowgroup", colSpan: 2 });
          bodies.push(make("tbody", {}, make("tr", { className: "cost-part" }, head)));
          continue;
        }
        const exact = make("small", { textContent: `${grouped(found[name])}${inBytes ? " bytes" : ""}` });
        const cell = make("td", {}, readable(found[name], inBytes), exact);
        bodies.at(-1).append(make("tr", {}, make("th", { textContent: words, scope: "row" }), cell));
      }
      return bodies;
    }

    choice.addEventListener("change", () => {
      FIELDS.slice(0, 9).forEach(([name], place) => (inputs[name].value = PRESETS[choice.value]?.[place] ?? inputs[name].value));
      show(true);
    });
    box.addEventListener("input", (event) => {
      if (event.target === choice) return;
      if (FIELDS.slice(0, 9).some(([name]) => inputs[name] === event.target)) choice.value = "another shape";
      show(false);
    });
    box.addEventListener("change", (event) => event.target !== choice && show(true));
    const model = make("label", { className: "cost-model" }, make("span", { textContent: "Model" }), choice);
    box.replaceChildren(make("div", { className: "cost-fields" }, model, ...fields), status, table);
    show(true);
  }

  return { FIELDS, PRESETS, fault, count, readable, setUp };
})();

document.querySelectorAll(".cost-calculator").forEach(costCalculator.setUp);
