// See geometry.hpp.
#include "geometry.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <trn/core/enumerators.hpp>
#include <trn/core/error.hpp>

namespace trn::fft::dist_detail {

namespace {

using dist::Boxes;

constexpr std::int64_t kLongestAxis = std::int64_t{1} << 36;

Shape halved(Shape shape) {
  shape.back() = shape.back() / 2 + 1;
  return shape;
}

std::vector<Boxes::Box> boxes_for(const Boxes& boxes, int ranks) {
  std::vector<Boxes::Box> all = boxes.boxes;
  all.resize(static_cast<std::size_t>(ranks), {Shape(boxes.shape.size(), 0), Shape(boxes.shape.size(), 0)});
  return all;
}

// Forward order: the last dimension first.
bool falls(const DistDescription& d) {
  return d.kind == Kind::RealToComplex || (d.kind == Kind::ComplexToComplex && d.direction == Direction::Forward);
}

// One decomposition: the distributions of its stages and the dimensions that are whole there, in forward order.
struct Cut {
  std::vector<std::function<Boxes(const Shape&)>> boxes;
  std::vector<std::vector<std::size_t>> whole;
};
Cut slab_cut(std::size_t rank, int ranks) {
  Cut cut;
  cut.boxes = {[ranks](const Shape& s) { return dist::slabs(s, 0, ranks); },
               [ranks](const Shape& s) { return dist::slabs(s, 1, ranks); }};
  cut.whole = {{}, {0}};
  for (std::size_t d = rank; d-- > 1;) cut.whole[0].push_back(d);
  return cut;
}
Cut pencil_cut(int ranks) {
  const dist::Grid grid = dist::square_grid(ranks);
  return {{[grid](const Shape& s) { return dist::pencils(s, 0, 1, grid); },
           [grid](const Shape& s) { return dist::pencils(s, 0, 2, grid); },
           [grid](const Shape& s) { return dist::pencils(s, 1, 2, grid); }},
          {{2}, {1}, {0}}};
}

Geometry box_geometry(const DistDescription& d, int ranks, Cut cut, const Boxes* input, const Boxes* output) {
  const std::size_t rank = d.lengths.size();
  const bool to_half = d.kind == Kind::RealToComplex, from_half = d.kind == Kind::ComplexToReal;
  const Shape complex = to_half || from_half ? halved(d.lengths) : d.lengths;
  if (!falls(d)) {
    std::reverse(cut.boxes.begin(), cut.boxes.end());
    std::reverse(cut.whole.begin(), cut.whole.end());
    for (auto& whole : cut.whole) std::reverse(whole.begin(), whole.end());
  }
  Geometry g;
  for (std::size_t s = 0; s < cut.boxes.size(); ++s) {
    const Boxes boxes = cut.boxes[s](complex);
    const bool real = to_half && s == 0;
    GeometryStage stage{
        layout_of(real ? cut.boxes[s](d.lengths) : boxes, ranks, real), boxes_for(boxes, ranks), {}, {}};
    for (const std::size_t dimension : cut.whole[s]) {
      const bool last = dimension + 1 == rank;
      stage.lines.push_back({dimension, d.lengths[dimension], last ? d.kind : Kind::ComplexToComplex});
    }
    g.stages.push_back(std::move(stage));
  }
  const Boxes first = cut.boxes.front()(input_shape(d)), last = cut.boxes.back()(output_shape(d));
  g.input = input ? *input : first;
  g.output = output ? *output : last;
  g.from = layout_of(g.input, ranks, to_half);
  g.last = layout_of(last, ranks, from_half);
  g.to = layout_of(g.output, ranks, from_half);
  return g;
}

// Elements begin .. end of a matrix with rows of `row` elements, as at most three boxes; element `begin` lies at
// `position` and the others `step` apart. With `swapped` the matrix is the transpose of the global one.
void add_interval(std::vector<Region>& regions, std::int64_t begin, std::int64_t end, std::int64_t row, bool swapped,
                  std::int64_t position, std::int64_t step, Read read) {
  while (begin < end) {
    const std::int64_t r = begin / row, c = begin % row;
    // The rest of a row, or as many whole rows as there are.
    const std::int64_t rows = c == 0 && end - begin >= row ? (end - begin) / row : 1;
    const std::int64_t columns = rows > 1 || end - begin >= row - c ? row - c : end - begin;
    Region region{{r, c}, {rows, columns}, position, {step * row, step}, read};
    if (swapped) {
      std::swap(region.begin[0], region.begin[1]);
      std::swap(region.extent[0], region.extent[1]);
      std::swap(region.strides[0], region.strides[1]);
    }
    regions.push_back(region);
    begin += rows * columns;
    position += step * rows * columns;
  }
}

struct Interval {
  std::int64_t begin, end;
};
Interval interval(const Boxes& boxes, int rank) {
  if (rank >= boxes.ranks()) return {0, 0};
  const Boxes::Box& box = boxes.boxes[static_cast<std::size_t>(rank)];
  return {box.begin[0], box.begin[0] + box.extent[0]};
}
Layout line_layout(const Boxes& boxes, int ranks, std::int64_t row, bool swapped, bool real) {
  Layout layout = layout_of(boxes, ranks, real);
  for (int r = 0; r < ranks; ++r) {
    const auto [begin, end] = interval(boxes, r);
    auto& regions = layout.regions[static_cast<std::size_t>(r)];
    regions.clear();
    add_interval(regions, begin, end, row, swapped, 0, 1, Read::Plain);
  }
  return layout;
}
// The half spectrum of n points as the whole of it: point n - k is the conjugate of point k, and points that are their
// own mirror image are real.
Layout half_layout(const Boxes& boxes, int ranks, std::int64_t n, std::int64_t row) {
  Layout layout = layout_of(boxes, ranks, false);
  const std::int64_t middle = (n + 1) / 2;  // points 1 .. middle - 1 have a mirror image
  for (int r = 0; r < ranks; ++r) {
    const auto [begin, end] = interval(boxes, r);
    auto& regions = layout.regions[static_cast<std::size_t>(r)];
    regions.clear();
    if (begin == 0 && end > 0) add_interval(regions, 0, 1, row, false, 0, 1, Read::RealPart);
    const std::int64_t b = std::max<std::int64_t>(begin, 1), e = std::min(end, middle);
    if (b < e) {
      add_interval(regions, b, e, row, false, b - begin, 1, Read::Plain);
      add_interval(regions, n - e + 1, n - b + 1, row, false, e - 1 - begin, -1, Read::Conjugate);
    }
    if (n % 2 == 0 && begin <= n / 2 && n / 2 < end)
      add_interval(regions, n / 2, n / 2 + 1, row, false, n / 2 - begin, 1, Read::RealPart);
  }
  return layout;
}

// Four steps: the array is an n1 x n2 matrix (j1, j2), the spectrum one of (k1, k2) with k = k1 + n1 k2.
Geometry line_geometry(const DistDescription& d, int ranks, const Boxes* input, const Boxes* output) {
  const std::int64_t n = d.lengths[0];
  std::int64_t n1 = static_cast<std::int64_t>(std::sqrt(static_cast<long double>(n))) + 1;
  while (n1 * n1 > n || n % n1 != 0) --n1;
  const std::int64_t n2 = n / n1;
  const bool back = d.order == SpectrumOrder::Transposed && d.direction == Direction::Inverse;
  const bool transposed_out = d.order == SpectrumOrder::Transposed && !back;

  Geometry g;
  g.n1 = n1;
  g.n2 = n2;
  const auto ends = [&](const Shape& shape, bool transposed) {
    return dist::slabs(shape, 0, ranks, transposed ? n2 : 1);
  };
  g.input = input ? *input : ends(input_shape(d), back);
  g.output = output ? *output : ends(output_shape(d), transposed_out);
  const auto stage = [&](int cut, std::size_t dimension, bool twiddle) {
    const Boxes boxes = dist::slabs({n1, n2}, cut, ranks);
    GeometryStage made{layout_of(boxes, ranks, false), boxes_for(boxes, ranks), {}, {}};
    made.lines.push_back({dimension, dimension == 0 ? n1 : n2, Kind::ComplexToComplex});
    if (twiddle) made.twiddle = TwiddleStep{n};
    g.stages.push_back(std::move(made));
  };
  if (!back) {
    stage(1, 0, true);
    stage(0, 1, false);
  } else {
    stage(0, 1, true);
    stage(1, 0, false);
  }
  g.last = g.stages.back().layout;
  g.from = d.kind == Kind::ComplexToReal ? half_layout(g.input, ranks, n, n2)
                                         : line_layout(g.input, ranks, n2, false, d.kind == Kind::RealToComplex);
  const bool natural_spectrum = !back && !transposed_out;
  g.to = line_layout(g.output, ranks, natural_spectrum ? n1 : n2, natural_spectrum, d.kind == Kind::ComplexToReal);
  return g;
}

void check_boxes(const char* side, const Boxes& boxes, const Shape& shape, int ranks) {
  boxes.validate();
  require(boxes.shape == shape, "fft.dist_plan: the distribution of the {} has shape {}; this transform's has {}", side,
          to_string(boxes.shape), to_string(shape));
  require(boxes.ranks() <= ranks, "fft.dist_plan: the distribution of the {} is over {} ranks; the group has {}", side,
          boxes.ranks(), ranks);
}

}  // namespace

int Geometry::exchanges() const {
  int count = (from == stages.front().layout ? 0 : 1) + (last == to ? 0 : 1);
  for (std::size_t s = 1; s < stages.size(); ++s) {
    const auto &a = stages[s - 1], &b = stages[s];
    // After a stage of real lines the layout is that of the boxes.
    count += a.boxes == b.boxes ? 0 : 1;
  }
  return count;
}

Shape input_shape(const DistDescription& d) { return d.kind == Kind::ComplexToReal ? halved(d.lengths) : d.lengths; }
Shape output_shape(const DistDescription& d) { return d.kind == Kind::RealToComplex ? halved(d.lengths) : d.lengths; }

void check(const DistDescription& d) {
  operands::check_enumerator("fft.dist_plan", "Kind", d.kind, Kind::ComplexToReal);
  operands::check_enumerator("fft.dist_plan", "Direction", d.direction, Direction::Inverse);
  operands::check_enumerator("fft.dist_plan", "Scale", d.scale, Scale::Orthonormal);
  operands::check_enumerator("fft.dist_plan", "SpectrumOrder", d.order, SpectrumOrder::Transposed);
  operands::check_enumerator("fft.dist_plan", "Decomposition", d.decomposition, Decomposition::Pencils);
  operands::check_enumerator("fft.dist_plan", d.precision);
  require(!d.lengths.empty() && d.lengths.size() <= 3, "fft.dist_plan: {} dimensions; give one to three",
          d.lengths.size());
  long double points = 1;
  for (const std::int64_t n : d.lengths) {
    require(n >= 1 && n <= kLongestAxis, "fft.dist_plan: lengths {}; each is 1 to 2^36", to_string(d.lengths));
    points *= static_cast<long double>(n);
  }
  require(points <= 0x1p62L, "fft.dist_plan: lengths {} have more than 2^62 points", to_string(d.lengths));
  require(d.order == SpectrumOrder::Natural || (d.lengths.size() == 1 && d.kind == Kind::ComplexToComplex),
          "fft.dist_plan: transposed order is for complex transforms of one dimension; ask for natural order");
}

Geometry make_geometry(const DistDescription& d, int ranks, const Boxes* input, const Boxes* output) {
  if (input) check_boxes("input", *input, input_shape(d), ranks);
  if (output) check_boxes("output", *output, output_shape(d), ranks);
  if (d.lengths.size() == 1) return line_geometry(d, ranks, input, output);
  const auto make = [&](bool pencils) {
    return box_geometry(d, ranks, pencils ? pencil_cut(ranks) : slab_cut(d.lengths.size(), ranks), input, output);
  };
  if (d.lengths.size() == 2 || d.decomposition == Decomposition::Slabs) return make(false);
  if (d.decomposition == Decomposition::Pencils) return make(true);
  const bool few = ranks > std::min(d.lengths[0], d.lengths[1]);  // of planes
  Geometry usual = make(few);
  if (!input && !output) return usual;
  Geometry other = make(!few);
  return other.exchanges() < usual.exchanges() ? other : usual;
}

}  // namespace trn::fft::dist_detail
