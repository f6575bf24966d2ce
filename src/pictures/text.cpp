// A scene -> plain text: a canvas of letters, 8 wide and 12 high. Lines that meet in a letter become the sign that
// has an arm towards each of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "diagram/match.hpp"
#include "napkin/pictures.hpp"
#include "text/escape.hpp"
#include "text/utf8.hpp"

namespace napkin {
namespace {

constexpr unsigned left = 1, right = 2, up = 4, down = 8;
constexpr std::array<const char*, 16> signs = {" ", "─", "─", "─", "│", "╯", "╰", "┴",
                                               "│", "╮", "╭", "┬", "│", "┤", "├", "┼"};

// Level wires by the ink of their memory; without a machine, and elsewhere, they are plain.
constexpr std::array<const char*, 5> level_signs = {"━", "┅", "─", "╌", "═"};

struct Letter {
  unsigned arms = 0;
  const char* level_sign = nullptr;
  std::string text{};  // in place of arms
};

class Canvas {
 public:
  Canvas(double width, double height)
      : columns_(static_cast<int>(std::ceil(width / 8)) + 1),
        rows_(static_cast<int>(std::ceil(height / 12)) + 1),
        letters_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)) {}

  static int column(double x) { return static_cast<int>(std::lround(x / 8)); }
  static int row(double y) { return static_cast<int>(std::lround(y / 12)); }

  void draw(const Scene& scene, const Mark& mark) {
    level_sign_ = mark.level ? level_signs[static_cast<std::size_t>(scene.levels.at(*mark.level).ink)] : nullptr;
    match(
        mark.shape, [&](const Line& line) { draw(mark.kind, line); }, [](const Area&) {},
        [&](const Words& words) { write(words); });
  }

  std::string text() const {
    std::string all;
    for (int r = 0; r < rows_; ++r) {
      std::string line;
      for (int c = 0; c < columns_; ++c) line += sign(letters_[index(c, r)]);
      line.erase(line.find_last_not_of(' ') + 1);
      all += line + "\n";
    }
    const auto begin = all.find_first_not_of('\n');
    if (begin == std::string::npos) return "";
    return all.substr(begin, all.find_last_not_of('\n') - begin + 1) + "\n";
  }

 private:
  static constexpr const char* covered = "\x01";  // by the wide letter before it

  static std::string sign(const Letter& letter) {
    if (!letter.text.empty()) return letter.text == covered ? "" : letter.text;
    const bool level = (letter.arms & (up | down)) == 0;
    return level && letter.level_sign ? letter.level_sign : signs[letter.arms];
  }

  std::size_t index(int c, int r) const {
    return static_cast<std::size_t>(r) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(c);
  }
  Letter* at(int c, int r) { return c >= 0 && r >= 0 && c < columns_ && r < rows_ ? &letters_[index(c, r)] : nullptr; }
  void arms(int c, int r, unsigned which) {
    auto* letter = at(c, r);
    if (!letter) return;
    letter->arms |= which;
    if (level_sign_) letter->level_sign = level_sign_;
  }
  void put(int c, int r, std::string text) {
    if (auto* letter = at(c, r)) letter->text = std::move(text);
  }

  void across(int from, int to, int r) {
    if (from > to) std::swap(from, to);
    for (int c = from; c <= to; ++c) arms(c, r, (c > from ? left : 0) | (c < to ? right : 0));
  }
  void along(int c, int from, int to) {
    if (from > to) std::swap(from, to);
    for (int r = from; r <= to; ++r) arms(c, r, (r > from ? up : 0) | (r < to ? down : 0));
  }

  // One letter a row; level where it begins and ends.
  void slope(Point a, Point b) {
    const int c0 = column(a.x), c1 = column(b.x), r0 = row(a.y), r1 = row(b.y), rise = r1 > r0 ? 1 : -1;
    const int rows = std::abs(r1 - r0);
    int last = c0;
    for (int i = 1; i < rows; ++i) {
      const int c = c0 + static_cast<int>(std::lround(static_cast<double>(c1 - c0) * i / rows));
      const bool upright = c == last;
      const std::string sign = upright ? "│" : rise > 0 ? "╲" : "╱";
      auto* letter = at(c, r0 + i * rise);
      const bool crosses = letter && (letter->text == "╲" || letter->text == "╱") && letter->text != sign;
      put(c, r0 + i * rise, crosses ? "╳" : sign);
      last = c;
    }
    across(c0, c0 + 1, r0);
    across(c1 - 1, c1, r1);
  }

  void segment(Point a, Point b) {
    if (row(a.y) == row(b.y))
      across(column(a.x), column(b.x), row(a.y));
    else if (column(a.x) == column(b.x))
      along(column(a.x), row(a.y), row(b.y));
    else
      slope(a, b);
  }

  void draw(MarkKind kind, const Line& line) {
    if (line.points.size() == 1) return put(column(line.points[0].x), row(line.points[0].y), "●");
    if (kind == MarkKind::onward) return put(column(line.points[1].x), row(line.points[1].y), ">");
    if (kind == MarkKind::separator) return dashes(line);
    if (line.closed) return outline(kind, line);
    for (std::size_t i = 1; i < line.points.size(); ++i) segment(line.points[i - 1], line.points[i]);
  }

  void dashes(const Line& line) {
    const int r = row(line.points[0].y);
    for (int c = column(line.points[0].x); c < column(line.points[1].x); ++c) put(c, r, c % 2 == 0 ? "-" : " ");
  }

  void outline(MarkKind kind, const Line& line) {
    const auto [x0, x1] =
        std::minmax_element(line.points.begin(), line.points.end(), [](Point a, Point b) { return a.x < b.x; });
    const auto [y0, y1] =
        std::minmax_element(line.points.begin(), line.points.end(), [](Point a, Point b) { return a.y < b.y; });
    const int l = column(x0->x), r = column(x1->x), t = row(y0->y), b = row(y1->y);
    if (line.points.size() == 3) return triangle(kind, l, r, t, b);
    across(l, r, t), across(l, r, b), along(l, t, b), along(r, t, b);
    corner(l, t, kind == MarkKind::mask || kind == MarkKind::normalisation ? "╱" : "┌");
    corner(r, t, kind == MarkKind::mask || kind == MarkKind::reindexing || kind == MarkKind::reduction ? "╲" : "┐");
    corner(l, b, kind == MarkKind::mask || kind == MarkKind::normalisation ? "╲" : "└");
    corner(r, b, kind == MarkKind::mask || kind == MarkKind::reindexing || kind == MarkKind::reduction ? "╱" : "┘");
  }
  void corner(int c, int r, const char* sign) { put(c, r, sign); }

  void triangle(MarkKind kind, int l, int r, int t, int b) {
    const bool widens = kind == MarkKind::normalisation;
    const int base = widens ? r : l, inward = widens ? -1 : 1, middle = (t + b) / 2;
    along(base, t, b);
    put(base + inward, t, widens ? "╱" : "╲");
    put(base + inward, b, widens ? "╲" : "╱");
    put(base + 2 * inward, middle, widens ? "<" : ">");
    if (widens) across(l, base + 2 * inward, middle);
  }

  void write(const Words& words) {
    int cells = 0;
    for_each_letter(words.text, [&](std::string_view, int wide) { cells += wide; });
    const double shift = words.anchor == Anchor::start ? 0 : words.anchor == Anchor::middle ? 4.0 * cells : 8.0 * cells;
    int c = column(words.at.x - shift + 0.01);
    for_each_letter(words.text, [&](std::string_view letter, int wide) {
      put(c, row(words.at.y), std::string(letter) + (words.barred ? "\u0305" : ""));
      if (wide == 2) put(c + 1, row(words.at.y), covered);
      c += wide;
    });
  }

  // Letters that turn or join what stands beside them, and those that are none, are left out.
  template <class Each>
  static void for_each_letter(std::string_view text, Each each) {
    while (!text.empty()) {
      const auto point = decode_utf8(text);
      const auto bytes = point ? point->bytes : 1;
      if (point && is_printable(point->value) && text_width(text.substr(0, bytes)) > 0)
        each(text.substr(0, bytes), columns(point->value));
      text.remove_prefix(bytes);
    }
  }

  int columns_, rows_;
  const char* level_sign_ = nullptr;  // of the mark at hand
  std::vector<Letter> letters_;
};

}  // namespace

std::string emit_text_drawing(const Scene& scene) {
  Canvas canvas(scene.width, scene.height);
  for (const auto& mark : scene.marks) canvas.draw(scene, mark);
  return canvas.text();
}

}  // namespace napkin
