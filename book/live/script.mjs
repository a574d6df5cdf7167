// One more classic script, run once and taken out of the page again: a page from a disk is given no other kind of file.

export async function run(address) {
  const script = Object.assign(document.createElement("script"), { src: address });
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
  script.remove();
}
