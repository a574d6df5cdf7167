// Runs inside the build, in an embedded JavaScript engine: MathJax without a browser. `mathjax_engine.py` loads MathJax's
// own files before this one and calls the functions at the end.
function prepare(macros) {
  const { mathjax } = MathJax._.mathjax;
  const { TeX } = MathJax._.input.tex_ts;
  const { CHTML } = MathJax._.output.chtml_ts;
  const { TeXFont } = MathJax._.output.chtml.fonts.tex_ts;
  const { AssistiveMmlHandler } = MathJax._.a11y["assistive-mml"];
  const adaptor = MathJax._.adaptors.liteAdaptor.liteAdaptor();
  AssistiveMmlHandler(MathJax._.handlers.html_ts.RegisterHTMLHandler(adaptor));
  // Not `noerrors` and `noundefined`, which show a mistake in red on the page: here it stops the build.
  const packages = ["base", "ams", "boldsymbol", "braket", "cancel", "cases", "color", "configmacros", "mathtools", "newcommand", "textmacros"];
  const input = new TeX({ packages, macros, formatError: (jax, error) => { throw error; } });
  const output = new CHTML({ adaptiveCSS: true, font: new TeXFont({ fontURL: "woff-v2" }) });
  const page = mathjax.document("", { InputJax: input, OutputJax: output });
  // What MathJax has used so far, and so has rules for in its style sheet: kinds of elements, delimiters, characters.
  const usages = [output.wrapperUsage, output.font.delimUsage, output.font.charUsage];

  // The width is read off the boxes that the formula was just made of; asked for later, they would all be made again.
  let width = 0;
  output.processMath = (math, node) => {
    const wrapper = output.factory.wrap(math);
    wrapper.toCHTML(node);
    width = wrapper.getOuterBBox().w;
  };

  // The formula as HTML, its width in its own em (the page can then fit it to a phone before it is shown), and what it uses.
  // Of a mistake: no HTML, and what MathJax says of it.
  globalThis.typeset = (tex, display) => {
    const item = new page.options.MathItem(tex, input, display);
    item.start.node = adaptor.body(page.document);
    item.setMetrics(16, 8, 1e6, 1e6, 1);
    usages.forEach(usage => usage.clear());
    try {
      item.convert(page);
    } catch (error) {
      return ["", error.message, []];
    }
    return [adaptor.outerHTML(item.typesetRoot), width, usages.map(usage => usage.update())];
  };

  // The style sheet of all formulas together that used these.
  globalThis.styles = used => {
    usages.forEach((usage, number) => {
      usage.clear();
      used[number].forEach(each => usage.add(each));
    });
    return adaptor.textContent(output.styleSheet(page));
  };
  return true;
}
