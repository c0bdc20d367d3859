// An SVG drawing of rectangles, text and arrows, whose view box grows with its contents.
#pragma once

#include <cstddef>
#include <partita/explain/long_text.hpp>

namespace partita {

/// A fill colour and a matching ink: one pair for each worker, cyclically.
struct colour {
  const char* fill;
  const char* ink;
};

namespace detail {
inline constexpr colour dark{"none", "#2b3440"};
inline constexpr colour pale{"#f4f6f8", "#717c88"};
}  // namespace detail

/// The colour of a worker, or of its block.
constexpr colour colour_of(std::size_t worker) {
  constexpr colour palette[] = {{"#cfe3f7", "#1f4e79"}, {"#fbdcc0", "#a04d00"}, {"#d3ebcf", "#2c6b2f"},
                                {"#e2d6f0", "#5b3a8c"}, {"#f8d0d2", "#9b2226"}, {"#c9ebe7", "#12655d"},
                                {"#f9ecb5", "#7a5c00"}, {"#f7d3e8", "#8c2a66"}, {"#dfe3e8", "#44505c"},
                                {"#e3edb9", "#55650f"}, {"#ead9c9", "#6b4423"}, {"#d4ecfb", "#0b5c85"}};
  return palette[worker % (sizeof palette / sizeof *palette)];
}

/// A drawing, empty at first.
class drawing {
 public:
  using px = long;  ///< a length or a position, in pixels; never negative
  enum class anchor { start, middle, end };
  struct style {
    px size = 14;
    anchor at = anchor::start;
    const char* ink = detail::dark.ink;
    bool bold = false;
    bool code = false;  ///< in a monospaced font
  };

  void rectangle(px x, px y, px width, px height, const colour& c, px line = 1, bool dashed = false, px round = 0) {
    reach(x + width, y + height);
    body_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\"" << height << "\"";
    if (round > 0) body_ << " rx=\"" << round << "\"";
    body_ << " fill=\"" << c.fill << "\"";
    if (line > 0) body_ << " stroke=\"" << c.ink << "\" stroke-width=\"" << line << "\"";
    if (dashed) body_ << " stroke-dasharray=\"4 3\"";
    body_ << "/>\n";
  }

  void line(px x1, px y1, px x2, px y2, const char* ink, px width = 1) {
    reach(x1 > x2 ? x1 : x2, y1 > y2 ? y1 : y2);
    body_ << "<path d=\"M" << x1 << " " << y1 << "L" << x2 << " " << y2 << "\" stroke=\"" << ink << "\" stroke-width=\""
          << width << "\" fill=\"none\"/>\n";
  }

  /// A Bézier curve from (x, y1) to (end_x, y2) whose control points are at x = bend.
  void curve(px x, px y1, px bend, px end_x, px y2, const char* ink) {
    reach(x > end_x ? x : end_x, y1 > y2 ? y1 : y2);
    body_ << "<path d=\"M" << x << " " << y1 << "C" << bend << " " << y1 << " " << bend << " " << y2 << " " << end_x
          << " " << y2 << "\" stroke=\"" << ink << "\" fill=\"none\"/>\n";
  }

  /// A straight arrow, horizontal or vertical.
  void arrow(px x1, px y1, px x2, px y2, const char* ink) {
    const px along_x = x2 > x1 ? 1 : x2 < x1 ? -1 : 0, along_y = y2 > y1 ? 1 : y2 < y1 ? -1 : 0;
    const px back_x = x2 - 8 * along_x, back_y = y2 - 8 * along_y;
    line(x1, y1, back_x, back_y, ink, 2);
    body_ << "<path d=\"M" << x2 << " " << y2 << "L" << back_x + 5 * along_y << " " << back_y + 5 * along_x << "L"
          << back_x - 5 * along_y << " " << back_y - 5 * along_x << "Z\" fill=\"" << ink << "\"/>\n";
    reach(x2 + 5, y2 + 5);
  }

  /// One line of text with the baseline y.
  void words(px x, px y, const long_text& what, const style& how) {
    if (what.empty()) return;
    const px wide = width_of(what, how);
    reach(how.at == anchor::start ? x + wide : how.at == anchor::middle ? x + wide / 2 : x, y + how.size / 4);
    body_ << "<text x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << how.size << "\" fill=\"" << how.ink << "\"";
    if (how.at != anchor::start) body_ << " text-anchor=\"" << (how.at == anchor::middle ? "middle" : "end") << "\"";
    if (how.bold) body_ << " font-weight=\"bold\"";
    if (how.code) body_ << " font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" xml:space=\"preserve\"";
    body_ << ">";
    for (const char c : what) {
      if (c == '<') body_ << "&lt;";
      else if (c == '>') body_ << "&gt;";
      else if (c == '&') body_ << "&amp;";
      else body_ << c;
    }
    body_ << "</text>\n";
  }

  /// Lines of code below each other, with the first baseline at y; returns the baseline of the next line.
  px lines(px x, px y, const long_text& what, style how) {
    how.code = true;
    long_text next;
    for (const char c : what) {
      if (c != '\n') {
        next << c;
        continue;
      }
      words(x, y, next, how);
      y += how.size * 3 / 2;
      next = long_text();
    }
    return y;
  }

  /// The approximate width of a text: letters and fonts differ.
  static px width_of(const long_text& what, const style& how) {
    return static_cast<px>(what.columns()) * how.size * (how.code ? 61 : how.bold ? 66 : 58) / 100;
  }

  px width() const { return width_; }
  px height() const { return height_; }

  long_text svg() const {
    const px margin = 16;
    long_text all;
    all << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-" << margin << " -" << margin << " "
        << width_ + 2 * margin << " " << height_ + 2 * margin << "\" width=\"" << width_ + 2 * margin << "\" height=\""
        << height_ + 2 * margin << "\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n<rect x=\"-"
        << margin << "\" y=\"-" << margin << "\" width=\"" << width_ + 2 * margin << "\" height=\""
        << height_ + 2 * margin << "\" rx=\"8\" fill=\"#ffffff\"/>\n"
        << body_ << "</svg>\n";
    return all;
  }

 private:
  void reach(px x, px y) {
    if (x > width_) width_ = x;
    if (y > height_) height_ = y;
  }

  long_text body_;
  px width_ = 0;
  px height_ = 0;
};

}  // namespace partita
