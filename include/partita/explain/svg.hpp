// An SVG drawing of rectangles, text and arrows. The view box grows with the contents of the drawing.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>

namespace partita {

/// A fill colour and a matching colour for lines and text. `colour_of` gives one such pair for each worker, cyclically.
struct colour {
  const char* fill;  ///< an SVG colour, or "none"
  const char* ink;   ///< the SVG colour of lines and text
};

namespace detail {
inline constexpr colour dark_colour{"none", "#2b3440"};     ///< text and lines that belong to no worker
inline constexpr colour pale_colour{"#f4f6f8", "#5d6874"};  ///< for empty blocks, refused partitions and arcs
}  // namespace detail

/// The colour of a worker and of its block.
constexpr colour colour_of(std::size_t worker) {
  constexpr colour palette[] = {{"#cfe3f7", "#1f4e79"}, {"#fbdcc0", "#a04d00"}, {"#d3ebcf", "#2c6b2f"},
                                {"#e2d6f0", "#5b3a8c"}, {"#f8d0d2", "#9b2226"}, {"#c9ebe7", "#12655d"},
                                {"#f9ecb5", "#7a5c00"}, {"#f7d3e8", "#8c2a66"}, {"#dfe3e8", "#44505c"},
                                {"#e3edb9", "#55650f"}, {"#ead9c9", "#6b4423"}, {"#d4ecfb", "#0b5c85"}};
  return palette[worker % (sizeof palette / sizeof *palette)];
}

/// An SVG drawing, which is empty at first.
class drawing {
 public:
  using px = long;                              ///< a length or a position, in pixels; never negative
  enum class anchor { start, middle, end };     ///< which point of a text is at its x position
  struct style {                                ///< how a text is drawn
    px size = 14;                               ///< the size of the font
    anchor at = anchor::start;                  ///< which point of the text is at its x position
    const char* ink = detail::dark_colour.ink;  ///< the SVG colour of the text
    bool bold = false;
    bool monospaced = false;
  };

  PARTITA_DECL void rectangle(px x, px y, px width, px height, const colour& c, px line = 1, bool dashed = false,
                              px radius = 0);  ///< draws a rectangle; line: the border's width, radius: of the corners

  PARTITA_DECL void line(px x1, px y1, px x2, px y2, const char* ink, px width = 1);  ///< draws a straight line

  /// Draws a Bézier curve from (x, y1) to (end_x, y2) whose control points are at x = control_x.
  PARTITA_DECL void curve(px x, px y1, px control_x, px end_x, px y2, const char* ink);

  /// Draws a straight arrow, which is horizontal or vertical.
  PARTITA_DECL void arrow(px x1, px y1, px x2, px y2, const char* ink);

  /// Draws one line of text with the baseline y.
  PARTITA_DECL void words(px x, px y, const long_text& what, const style& pen);

  /// Draws lines of code, with the first baseline at y. Returns the baseline for a next line.
  PARTITA_DECL px text_lines(px x, px y, const long_text& what, style pen);

  /// The approximate width of a text in pixels: the true width depends on letters and fonts.
  static px width_of(const long_text& what, const style& pen) {
    return static_cast<px>(what.columns()) * pen.size * (pen.monospaced ? 61 : pen.bold ? 66 : 58) / 100;
  }

  px width() const { return width_; }    ///< The width of what was drawn so far.
  px height() const { return height_; }  ///< The height of what was drawn so far.

  PARTITA_DECL long_text svg() const;  ///< The drawing as an SVG document.

 private:
  PARTITA_DECL void extend_to(px x, px y);  ///< Makes the drawing large enough for a point.

  long_text elements_;         ///< the SVG elements so far
  px width_ = 0, height_ = 0;  ///< the largest x and the largest y that were drawn so far
};

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/svg.ipp>
#endif
