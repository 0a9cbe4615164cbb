"""Markdown to the body of a page: anchors as on GitHub, links to pages of the site, blocks of code in colours."""
import html
import posixpath
import re

from markdown_it import MarkdownIt

from builder.pages import Anchors, Heading, Page, Part, relative

EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


TAG = re.compile(r"(<[^>]+>)")
CODE = re.compile(r"\b[EWN]0[0-9]{3}\b")


class Renderer:
    def __init__(self, highlighter, places, library):
        """`places.resolve(path, page)` is the link from a page to what is made of a file or a folder of the tree, or None;
        `library.links(page)` those to declarations."""
        self.highlighter, self.places, self.library, self.errors = highlighter, places, library, []
        self.parser = MarkdownIt("commonmark", {"html": False}).enable("table")
        for rule in ("fence", "code_block", "table_open", "table_close", "th_open", "heading_open", "image"):
            self.parser.renderer.rules[rule] = getattr(self, rule)

    # ---- Rules of markdown-it's renderer: of tokens, a place in them, its options and what one page shares ----

    @staticmethod
    def heading_open(tokens, index, _options, _page):
        return f'<{tokens[index].tag} id="{html.escape(tokens[index].attrs["id"])}">'

    @staticmethod
    def table_open(_tokens, _index, _options, _page):
        return '<div class="table" role="region" aria-label="table" tabindex="0"><table>\n'

    @staticmethod
    def table_close(_tokens, _index, _options, _page):
        return "</table></div>\n"

    @staticmethod
    def th_open(tokens, index, _options, _page):
        style = tokens[index].attrs.get("style", "")
        return f'<th scope="col"{f" style={chr(34)}{style}{chr(34)}" if style else ""}>'

    def fence(self, tokens, index, _options, page):
        return self.block(tokens[index].content, (tokens[index].info.split() or [""])[0], page["path"])

    def code_block(self, tokens, index, _options, page):
        return self.block(tokens[index].content, "", page["path"])

    def image(self, tokens, index, _options, _page):
        token = tokens[index]
        return f'<img src="{html.escape(token.attrs["src"])}" alt="{html.escape(token.content)}">'

    def block(self, text, language, path):
        """Code in the page `path`."""
        text = text.rstrip("\n")
        if language == "tbem" or (not language and self.highlighter.is_program(text)):
            inner = self.highlighter.tbem(text, self.library.links(path))
        elif language == "console":
            inner = self.highlighter.console(text)
        elif language in ("", "text"):
            inner = html.escape(text, quote=False)
        else:
            inner = self.highlighter.other(text, language)
        return f'<pre tabindex="0"><code>{inner}</code></pre>\n'

    # ---- A page ----

    def page(self, path, source, text, section):
        """The page `path` of the file `source`. Broken links are added to `errors`."""
        tokens, page = self.parser.parse(text), Page(path, "", section, source=source)
        self._anchors(tokens, page)
        for token in tokens:
            for child in token.children or []:
                if child.type in ("link_open", "image"):
                    name = "href" if child.type == "link_open" else "src"
                    child.attrs[name] = self.link(child.attrs[name], source, path, (token.map or [0])[0] + 1)
        page.body = self.parser.renderer.render(tokens, self.parser.options, {"path": path})
        page.title = page.headings[0].text if page.headings else posixpath.basename(source)
        return page

    def link(self, target, source, path, line):
        """Of a link in the file `source`: the link in the page `path`."""
        if EXTERNAL.match(target) or target.startswith("#"):
            return target  # anchors of the page itself are checked with all others, when every page is there
        name, _, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
        there = self.places.resolve(file, path)
        if there is None:
            self.errors.append(f"{source}:{line}: the link leads to `{file}`, which does not exist")
            return target
        return f"{there.partition('#')[0]}#{anchor}" if anchor else there

    @staticmethod
    def _anchors(tokens, page):
        anchors, part = Anchors(), Part("", "", "")
        for index, token in enumerate(tokens):
            if token.type == "heading_open":
                title = plain(tokens[index + 1])
                anchor, level = anchors.of(title), int(token.tag[1])
                token.attrs["id"] = anchor
                page.headings.append(Heading(level, anchor, title))
                part = Part("" if level == 1 else anchor, title, "")
                page.parts.append(part)
            elif token.type == "inline" and tokens[index - 1].type != "heading_open":
                part.text += " " + plain(token)
            elif token.type in ("fence", "code_block"):
                part.text += " " + token.content


def link_codes(body, path, pages):
    """The body of the page `path`, where each code of a diagnostic that has a page leads to it, but in links and headings."""
    def link(match):
        there = f"errors/{match.group()}.html"
        return f'<a href="{relative(path, there)}">{match.group()}</a>' if there in pages and there != path else match.group()

    pieces, inside = TAG.split(body), 0
    for at, piece in enumerate(pieces):
        if re.match(r"</?(?:a|h[1-6])\b", piece):
            inside += -1 if piece.startswith("</") else 1
        elif at % 2 == 0 and inside == 0:
            pieces[at] = CODE.sub(link, piece)
    return "".join(pieces)


def plain(token):
    """What a reader reads of an inline token."""
    return "".join(" " if child.type in ("softbreak", "hardbreak") else
                   child.content if child.type in ("text", "code_inline") else "" for child in token.children or [])
