// One HTML5 page that needs nothing from elsewhere: text, tables, and plots as SVG. It follows the reader's light or dark
// colours, prints on paper, and works without scripts; a script of a few lines shows beside a plot what is pointed at.
#pragma once

#include "runtime/report/Table.h"

#include <string>
#include <string_view>
#include <vector>

namespace tbem::report {

class Page {
public:
  Page(std::string title, std::string subtitle) : title(std::move(title)), subtitle(std::move(subtitle)) {}

  /// What follows stands under this heading; one without anything under it is left out.
  void section(std::string name);
  /// Text as it would stand on a terminal: lines are kept, what follows joins the last one.
  void text(std::string_view more);
  /// Text in letters of one width.
  void listing(std::string_view text);
  /// `anchors`: names of rows that plots link to (Timeline::Moment::link), or none.
  void table(const Table& table, const std::vector<std::string>& anchors = {});
  /// A whole SVG document (Svg.h, Bars.h, Timeline.h).
  void plot(std::string_view svg);

  std::string html() const;

private:
  struct Section {
    std::string name, body;
    std::string lines;  ///< text that is not in `body` yet
  };
  Section& last();
  static void closeLines(Section& section);

  std::string title, subtitle;
  std::vector<Section> sections;
};

}  // namespace tbem::report
