"""Pages made from the compiler's tables: a page for each diagnostic, and the options of every command."""
import html

from builder.pages import Broken, Heading, Page, Part


def diagnostics(tool, renderer, section):
    """The list of all diagnostics, then a page for each."""
    index = Page("errors/index.html", "Diagnostics", section, source="docs/errors")
    pages, rows = [index], []
    for row in tool.diagnostics():
        code = row["code"]
        if not row["text"].strip():
            raise Broken(f"docs/errors/{code}.md: the diagnostic {code} has no page")
        page = renderer.page(f"errors/{code}.html", f"docs/errors/{code}.md", row["text"], section)
        message = html.escape(row["message"])
        page.body = page.body.replace("</h1>\n", f'</h1>\n<p class="message"><strong>{row["severity"]}</strong> {code}: '
                                      f"<code>{message}</code></p>\n", 1)
        page.parts[0].text += f' {row["message"]} {row["name"]}'
        pages.append(page)
        title = html.escape(page.title.partition(": ")[2] or page.title)
        rows.append(f'<tr><td><a href="{code}.html">{code}</a></td><td>{row["severity"]}</td><td>{title}</td>'
                    f"<td><code>{message}</code></td></tr>\n")
    index.body = ("<h1>Diagnostics</h1>\n<p>Every error, warning and note of the compiler, with a wrong program and a right "
                  "one. <code>tbemc explain CODE</code> prints the same page. <code>{}</code> in a message stands for what "
                  'varies.</p>\n<div class="table" role="region" aria-label="diagnostics" tabindex="0"><table><thead><tr>'
                  '<th scope="col">code</th><th scope="col">kind</th><th scope="col">what is wrong</th>'
                  f'<th scope="col">message</th></tr></thead><tbody>\n{"".join(rows)}</tbody></table></div>\n')
    index.parts = [Part("", "Diagnostics", "error warning note codes")]
    return pages


def options(tool, section):
    """What `--help` says of each command."""
    page = Page("options.html", "Options of every command", section, source="tbemc --help")
    page.parts = [Part("", page.title, "command line options help")]
    bodies = []
    for name, line, text in tool.help():
        bodies.append(f'<h2 id="{name}"><code>tbemc {name}</code></h2>\n<pre tabindex="0"><code>'
                      f"{html.escape(text.strip(), quote=False)}</code></pre>\n")
        page.headings.append(Heading(2, name, f"tbemc {name}"))
        page.parts.append(Part(name, f"tbemc {name} options", f"{line} {text}"))
    page.body = ("<h1>Options of every command</h1>\n<p>What <code>tbemc COMMAND --help</code> prints, at 100 columns. "
                 f'<a href="cli.html">The command line</a> explains it.</p>\n{"".join(bodies)}')
    return page
