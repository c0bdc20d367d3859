// Defines the functions that explain/svg.hpp declares.
#pragma once

#include <partita/explain/svg.hpp>

namespace partita {

PARTITA_DEF void drawing::rectangle(px x, px y, px width, px height, const colour& c, px line, bool dashed, px radius) {
  extend_to(x + width, y + height);
  elements_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\"" << height << "\"";
  if (radius > 0) elements_ << " rx=\"" << radius << "\"";
  elements_ << " fill=\"" << c.fill << "\"";
  if (line > 0) elements_ << " stroke=\"" << c.ink << "\" stroke-width=\"" << line << "\"";
  if (dashed) elements_ << " stroke-dasharray=\"4 3\"";
  elements_ << "/>\n";
}

PARTITA_DEF void drawing::line(px x1, px y1, px x2, px y2, const char* ink, px width) {
  extend_to(x1 > x2 ? x1 : x2, y1 > y2 ? y1 : y2);
  elements_ << "<path d=\"M" << x1 << " " << y1 << "L" << x2 << " " << y2 << "\" stroke=\"" << ink
            << "\" stroke-width=\"" << width << "\" fill=\"none\"/>\n";
}

PARTITA_DEF void drawing::curve(px x, px y1, px control_x, px end_x, px y2, const char* ink) {
  extend_to(x > end_x ? x : end_x, y1 > y2 ? y1 : y2);
  elements_ << "<path d=\"M" << x << " " << y1 << "C" << control_x << " " << y1 << " " << control_x << " " << y2 << " "
            << end_x << " " << y2 << "\" stroke=\"" << ink << "\" fill=\"none\"/>\n";
}

PARTITA_DEF void drawing::arrow(px x1, px y1, px x2, px y2, const char* ink) {
  const px along_x = x2 > x1 ? 1 : x2 < x1 ? -1 : 0, along_y = y2 > y1 ? 1 : y2 < y1 ? -1 : 0;
  const px back_x = x2 - 8 * along_x, back_y = y2 - 8 * along_y;
  line(x1, y1, back_x, back_y, ink, 2);
  elements_ << "<path d=\"M" << x2 << " " << y2 << "L" << back_x + 5 * along_y << " " << back_y + 5 * along_x << "L"
            << back_x - 5 * along_y << " " << back_y - 5 * along_x << "Z\" fill=\"" << ink << "\"/>\n";
  extend_to(x2 + 5, y2 + 5);
}

PARTITA_DEF void drawing::words(px x, px y, const long_text& what, const style& pen) {
  if (what.empty()) return;
  const px wide = width_of(what, pen);
  extend_to(pen.at == anchor::start ? x + wide : pen.at == anchor::middle ? x + wide / 2 : x, y + pen.size / 4);
  elements_ << "<text x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << pen.size << "\" fill=\"" << pen.ink << "\"";
  if (pen.at != anchor::start) elements_ << " text-anchor=\"" << (pen.at == anchor::middle ? "middle" : "end") << "\"";
  if (pen.bold) elements_ << " font-weight=\"bold\"";
  if (pen.monospaced)
    elements_ << " font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" xml:space=\"preserve\"";
  elements_ << ">";
  for (const char c : what) {
    if (c == '<') elements_ << "&lt;";
    else if (c == '>') elements_ << "&gt;";
    else if (c == '&') elements_ << "&amp;";
    else elements_ << c;
  }
  elements_ << "</text>\n";
}

PARTITA_DEF drawing::px drawing::text_lines(px x, px y, const long_text& what, style pen) {
  pen.monospaced = true;
  long_text next;
  for (const char c : what) {
    if (c != '\n') {
      next << c;
      continue;
    }
    words(x, y, next, pen);
    y += pen.size * 3 / 2;
    next = long_text();
  }
  return y;
}

PARTITA_DEF long_text drawing::svg() const {
  const px margin = 16;
  long_text all;
  all << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-" << margin << " -" << margin << " "
      << width_ + 2 * margin << " " << height_ + 2 * margin << "\" width=\"" << width_ + 2 * margin << "\" height=\""
      << height_ + 2 * margin << "\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n<rect x=\"-" << margin
      << "\" y=\"-" << margin << "\" width=\"" << width_ + 2 * margin << "\" height=\"" << height_ + 2 * margin
      << "\" rx=\"8\" fill=\"#ffffff\"/>\n"
      << elements_ << "</svg>\n";
  return all;
}

PARTITA_DEF void drawing::extend_to(px x, px y) {
  if (x > width_) width_ = x;
  if (y > height_) height_ = y;
}

}  // namespace partita
