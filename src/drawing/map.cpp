// A figure with two panels: the matrix on the left, and rank γ over the block size on the right.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "drawing/canvas.hpp"
#include "xorder/drawing/draw.hpp"

namespace xorder::drawing {
namespace {

constexpr double footer_space = 70;  // for the axis title and the note below a panel, and the margin

constexpr std::string_view matrix_style =
    ".gzero{fill:#fbe6dc}.gbox{fill:none;stroke:#cf4a1d;stroke-width:1.8}";

// "2^n elements" with n raised. A shift replaces the blank, which renderers drop at the start of a tspan.
std::string power_of_two_elements(int n) {
  return fmt::format(R"(2<tspan dy="-4.5" font-size="9">{}</tspan><tspan dx="4" dy="4.5">element{}</tspan>)",
                     n, n == 0 ? "" : "s");
}

class MapFigure {
 public:
  MapFigure(const gf2::AffineMap& map, std::string_view title, std::optional<int> lg_block)
      : map_(map),
        title_(title),
        block_(lg_block),
        n_(map.bits()),
        cell_(std::clamp(420.0 / std::max(n_, 1), 9.0, 40.0)),
        height_(std::max(cell_ * n_, 160.0)),
        plot_width_(std::max(cell_ * n_, 290.0)) {}

  std::string draw() {
    const double matrix_x = margin + label_space;
    const double top = margin + title_space + label_space;
    const double matrix_width = cell_ * n_ + complement_gap() + cell_;  // with the complement
    const double plot_x = matrix_x + std::max(matrix_width, 200.0) + panel_gap + label_space;
    const double width = plot_x + plot_width_ + margin;
    const double height = top + height_ + footer_space;
    canvas_.heading(title_,
                    fmt::format("{} = {} ⊕ {} on {}; bit 0 is the least significant", italic("y"),
                                italic("A x"), italic("c"), power_of_two_elements(n_)),
                    width);
    matrix(matrix_x, top);
    plot(plot_x, top);
    return canvas_.document(width, height, title_, matrix_style);
  }

 private:
  // Whether (row, column) is in the lower left part for the block size of --block.
  bool in_gamma(int row, int col) const { return block_ && row >= *block_ && col < *block_; }

  void matrix(double x, double y) {
    const double size = cell_ * n_;
    const double number = std::clamp(cell_ * 0.5, 7.5, 11.0);
    if (n_ == 0) canvas_.text(x, y + 12, "start", "sub", "an index of no bits: one element");
    if (n_ == 0) return;
    canvas_.text(x + size / 2, y - 30, "middle", "axis", "source bit");
    canvas_.upright(x - 36, y + size / 2, "axis", "target bit");
    const int step = label_step(cell_, 12);
    for (int i = 0; i < n_; i += step) {
      canvas_.text(x + (i + 0.5) * cell_, y - 9, "middle", "num", std::to_string(i), number);
      canvas_.text(x - 9, y + (i + 0.5) * cell_ + number * 0.36, "end", "num", std::to_string(i), number);
    }
    cells(x, y);
    complement(x + size + complement_gap(), y, number);
    if (block_) gamma_box(x, y);
  }

  void cells(double x, double y) {
    const double size = cell_ * n_;
    canvas_.rect(x, y, size, size, "zero");
    if (block_) {
      const double b = *block_ * cell_;
      if (b > 0 && b < size) canvas_.rect(x, y + b, b, size - b, "gzero");
    }
    grid(x, y, n_, n_);
    for (int col = 0; col < n_; ++col) {
      for (int row = 0; row < n_; ++row) {
        if (map_.matrix.at(row, col)) one(x, y, row, col, in_gamma(row, col) ? "accent" : "dark");
      }
    }
  }

  void complement(double x, double y, double number) {
    canvas_.text(x + cell_ / 2, y - 9, "middle", "num it", "c", number + 2);
    canvas_.rect(x, y, cell_, cell_ * n_, "zero");
    grid(x, y, n_, 1);
    for (int row = 0; row < n_; ++row) {
      if (map_.complement >> row & 1) one(x, y, row, 0, "dark");
    }
  }

  void one(double x, double y, int row, int col, std::string_view css) {
    const double gap = cell_ * 0.07;
    canvas_.rect(x + col * cell_ + gap, y + row * cell_ + gap, cell_ - 2 * gap, cell_ - 2 * gap, css,
                 cell_ * 0.1);
  }

  void grid(double x, double y, int rows, int cols) {
    std::string d;
    for (int i = 0; i <= rows; ++i) d += fmt::format("M{:.6g} {:.6g}h{:.6g}", x, y + i * cell_, cols * cell_);
    for (int j = 0; j <= cols; ++j) d += fmt::format("M{:.6g} {:.6g}v{:.6g}", x + j * cell_, y, rows * cell_);
    canvas_.path(d, "gap", cell_ < 14 ? 0.8 : 1.4);
  }

  void gamma_box(double x, double y) {
    const int b = *block_;
    if (b == 0 || b == n_) return;
    canvas_.rect(x, y + b * cell_, b * cell_, (n_ - b) * cell_, "gbox", 2.5);
    canvas_.text(x + b * cell_ / 2, y + n_ * cell_ + 18, "middle", "axis accent", italic("γ"));
  }

  // Bars for rank γ, in front of bars for its bound, min(b, n − b).
  void plot(double x, double y) {
    const double unit = plot_width_ / (n_ + 1);  // one bar for each b = 0 .. n
    const int highest = std::max(n_ / 2, 1);
    const double rise = height_ / highest;
    const double base = y + height_;
    const auto bar = [&](int b, int value, std::string_view css) {
      if (value == 0) return;
      canvas_.rect(x + (b + 0.12) * unit, base - value * rise, 0.76 * unit, value * rise, css,
                   std::min(unit * 0.08, 3.0));
    };
    for (int b = 0; b <= n_; ++b) {
      bar(b, std::min(b, n_ - b), "bound");
      bar(b, rank(b), is_block(b) ? "accent" : "dark");
    }
    canvas_.path(fmt::format("M{:.6g} {:.6g}h{:.6g}", x, base, plot_width_), "frame");
    const double number = std::clamp(unit * 0.5, 8.5, 11.0);
    for (int b = 0; b <= n_; b += label_step(unit, 15)) {
      canvas_.text(x + (b + 0.5) * unit, base + 15, "middle", is_block(b) ? "num accent" : "num",
                   std::to_string(b), number);
    }
    for (int r = 0; r <= highest; r += label_step(rise, 20)) {
      canvas_.text(x - 9, base - r * rise + number * 0.36, "end", "num", std::to_string(r), number);
    }
    canvas_.upright(x - 36, base - height_ / 2, "axis", "rank " + italic("γ"));
    canvas_.text(x + plot_width_ / 2, base + 35, "middle", "axis", "lg of the block size, " + italic("b"));
    legend(x, y - 30);
    if (block_) block_note(x + plot_width_ / 2, base + 54);
  }

  void legend(double x, double y) {
    canvas_.rect(x, y - 9, 10, 10, "dark", 1.5);
    canvas_.text(x + 16, y, "start", "axis", "rank " + italic("γ"));
    canvas_.rect(x + 72, y - 9, 10, 10, "bound", 1.5);
    canvas_.text(x + 88, y, "start", "axis",
                 fmt::format("its bound, min({}, {} − {})", italic("b"), italic("n"), italic("b")));
  }

  void block_note(double x, double y) {
    const int b = *block_;
    canvas_.text(x, y, "middle", "axis accent",
                 fmt::format("{} = {}: one pass needs memory for {}", italic("b"), b,
                             power_of_two_elements(b + rank(b))));
  }

  double complement_gap() const { return std::min(1.2 * cell_, 20.0); }
  bool is_block(int b) const { return block_ == b; }
  int rank(int b) const { return gf2::rank_gamma(map_.matrix, b); }

  const gf2::AffineMap& map_;
  std::string_view title_;
  std::optional<int> block_;
  int n_;
  double cell_;
  double height_;  // of both panels
  double plot_width_;
  Canvas canvas_;
};

}  // namespace

std::string draw(const gf2::AffineMap& map, std::string_view title, std::optional<int> lg_block) {
  return MapFigure(map, title, lg_block).draw();
}

}  // namespace xorder::drawing
