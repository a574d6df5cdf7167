// Runs inside the build, in an embedded JavaScript engine: MathJax without a browser. `formulas.py` loads MathJax's
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

  // The formula as HTML, and its width in its own em: the page can then fit it to a phone before it is shown.
  // Of a mistake: no HTML, and what MathJax says of it.
  globalThis.typeset = (tex, display) => {
    const item = new page.options.MathItem(tex, input, display);
    item.start.node = adaptor.body(page.document);
    item.setMetrics(16, 8, 1e6, 1e6, 1);
    try {
      item.convert(page);
    } catch (error) {
      return ["", error.message];
    }
    return [adaptor.outerHTML(item.typesetRoot), output.getBBox(item, page).w];
  };
  globalThis.styles = () => adaptor.textContent(output.styleSheet(page));
  return true;
}
