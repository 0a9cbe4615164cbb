"""Which page of the site is made from which file or folder of the tree."""
import posixpath

from builder.pages import Broken, relative

FOLDERS = "design/hacking.html#folders"  # what the table of HACKING.md says of a folder that has no page


class Places:
    def __init__(self, root):
        self.root = root
        self.shown = {}  # file of the tree that is no page of its own, but that a page leads to -> its page

    def of_page(self, source):
        """The page of a Markdown file, or None for one that has none."""
        if source == "docs/README.md":
            return "index.html"
        if source == "README.md":
            return "overview.html"
        if source in ("HACKING.md", "STYLE.md"):
            return f"design/{source[:-3].lower()}.html"
        parts = source.split("/")
        if parts[0] == "docs" and source.endswith(".md"):
            inner = "/".join(parts[1:])
            return inner[:-len("README.md")] + "index.html" if parts[-1] == "README.md" else inner[:-3] + ".html"
        if parts[0] == "examples" and len(parts) == 3 and parts[2] == "README.md":
            return f"examples/{parts[1]}.html"
        if parts[:2] == ["tools", "editors"] and parts[-1] == "README.md":
            return f"editors/{parts[2]}.html"
        return None

    def _of_folder(self, folder):
        if folder in ("docs", "."):
            return "index.html"
        if folder in ("stdlib", "examples"):
            return {"stdlib": "library"}.get(folder, folder) + "/index.html"
        if folder == "tools/editors":
            return "editors.html"
        parts = folder.split("/")
        if parts[0] == "docs":
            return "/".join(parts[1:]) + "/index.html"
        if parts[0] == "examples" and len(parts) == 2:
            return f"examples/{parts[1]}.html"
        return FOLDERS

    def resolve(self, path, page):
        """The link from `page` to what is made from a file or a folder of the tree; None where there is neither."""
        file = self.root / path
        if path.startswith("..") or not file.exists():
            return None
        if file.is_dir():
            target = self._of_folder(path)
        else:
            target = self.of_page(path)
            if target is None:
                target = self.shown.setdefault(path, f"files/{path}.html")
        return relative(page, target)

    def read(self, path):
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Broken(f"{path}: {error}") from error

    def folder(self, path, pattern):
        """The files of a folder that match, by name, from the root."""
        return sorted(posixpath.join(path, file.name) for file in (self.root / path).glob(pattern))
