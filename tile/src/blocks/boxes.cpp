// Cutting groups of indices into blocks and boxes.
#include <trn/tile/blocks/boxes.hpp>

#include <algorithm>
#include <trn/tile/blocks/loops.hpp>

namespace trn::tile::blocks {

namespace {

Offsets moved(const Offsets& from, const Affine& index, const BoxIndex& by) {
  Offsets to = from;
  for (std::size_t i = 0; i < kBoxOperands; ++i) to[i] = from[i] + index * by.stride[i];
  return to;
}

std::int64_t inside(const BoxGroup& group, std::size_t index) {
  std::int64_t product = 1;
  for (std::size_t i = 0; i < index; ++i) product *= group[i].extent;
  return product;
}

}  // namespace

std::int64_t extent_of(const BoxGroup& group) { return inside(group, group.size()); }

Cut cut_of(const BoxGroup& group, std::int64_t most, std::int64_t grain) {
  if (group.empty()) return {};
  std::size_t index = 0;
  std::int64_t inner = 1;
  while (index + 1 < group.size() && inner * group[index].extent <= most) inner *= group[index++].extent;
  const std::int64_t extent = group[index].extent, largest = std::clamp<std::int64_t>(most / inner, 1, extent);
  if (grain <= 1) return {index, largest};
  const auto cost = [&](std::int64_t count) {
    return extent / count * ceil_div(count * inner, grain) + ceil_div(extent % count * inner, grain);
  };
  std::int64_t best = largest;
  for (std::int64_t count = largest; count >= 1 && 2 * count > largest; --count) {
    if (cost(count) < cost(best)) best = count;
  }
  return {index, best};
}

std::int64_t box_size(const BoxGroup& group, const Cut& cut) {
  return group.empty() ? 1 : inside(group, cut.index) * std::min(cut.count, group[cut.index].extent);
}

std::int64_t units_of(const BoxGroup& group, const Cut& cut, std::int64_t unit) {
  if (group.empty()) return 1;
  const std::int64_t inner = inside(group, cut.index), extent = group[cut.index].extent;
  std::int64_t units = extent / cut.count * ceil_div(cut.count * inner, unit) +
                       (extent % cut.count > 0 ? ceil_div(extent % cut.count * inner, unit) : 0);
  for (std::size_t i = cut.index + 1; i < group.size(); ++i) units *= group[i].extent;
  return units;
}

void for_parts(Builder& b, const std::string& variable, const BoxGroup& group, const Cut& cut, LoopKind kind,
               std::int64_t unit, const std::function<void(const BoxPart&)>& body) {
  if (group.empty()) return body({});
  const auto loop = [&](const std::string& name, std::int64_t trip, const Builder::Body& inner) {
    kind == LoopKind::Parallel ? b.parallel(name, trip, inner) : b.sequential(name, trip, inner);
  };
  const BoxIndex& index = group[cut.index];
  const std::int64_t inner = inside(group, cut.index), whole = index.extent / cut.count,
                     rest = index.extent % cut.count;
  const std::int64_t each = ceil_div(cut.count * inner, unit),
                     all_units = units_of({group.begin(), group.begin() + static_cast<std::ptrdiff_t>(cut.index) + 1},
                                          cut, unit);
  const auto part = [&](const Offsets& at, const Affine& first, std::int64_t count, const Affine& units) {
    BoxPart p{{group.begin(), group.begin() + static_cast<std::ptrdiff_t>(cut.index)},
              inner * count,
              moved(at, first, index),
              units};
    p.box.push_back({count, index.stride});
    body(p);
  };
  const std::function<void(std::size_t, const Offsets&, const Affine&)> outer =
      [&](std::size_t level, const Offsets& at, const Affine& units) {
        if (level > cut.index) {
          std::int64_t step = all_units;
          for (std::size_t i = cut.index + 1; i < level; ++i) step *= group[i].extent;
          return loop(variable + std::to_string(level), group[level].extent,
                      [&](const Affine& i) { outer(level - 1, moved(at, i, group[level]), units + i * step); });
        }
        loop(variable, whole, [&](const Affine& i) { part(at, i * cut.count, cut.count, units + i * each); });
        if (rest > 0) part(at, Affine(whole * cut.count), rest, units + Affine(whole * each));
      };
  outer(group.size() - 1, {}, 0);
}

// The group falls into the first block, the rest of the index that is cut, and for each index outside it its other
// values.
void for_parts_after_first(Builder& b, const std::string& variable, const BoxGroup& group, const Cut& cut,
                           LoopKind kind, std::int64_t unit, const std::function<void(const BoxPart&, bool)>& body) {
  if (group.empty()) return body({}, true);
  BoxGroup few = group;
  for (std::size_t i = cut.index + 1; i < few.size(); ++i) few[i].extent = 1;
  few[cut.index].extent = std::min(cut.count, group[cut.index].extent);
  for_parts(b, variable, few, cut, kind, unit, [&](const BoxPart& part) { body(part, true); });
  Affine units = units_of(few, cut, unit);
  for (std::size_t level = cut.index; level < group.size(); ++level) {
    const std::int64_t done = few[level].extent;
    few[level].extent = group[level].extent - done;
    if (few[level].extent > 0) {
      for_parts(b, variable, few, cut, kind, unit, [&](const BoxPart& part) {
        BoxPart p = part;
        p.offset = moved(part.offset, Affine(done), group[level]);
        p.units = part.units + units;
        body(p, false);
      });
      units = units + units_of(few, cut, unit);
    }
    few[level].extent = group[level].extent;
  }
}

std::vector<SubBox> sub_boxes(const BoxGroup& box, std::int64_t from, std::int64_t size) {
  std::vector<SubBox> result;
  if (box.empty()) return {{from, size, {}, {}}};
  using Offset = std::array<std::int64_t, kBoxOperands>;
  const auto plus = [](Offset at, const BoxIndex& index, std::int64_t count) {
    for (std::size_t i = 0; i < kBoxOperands; ++i) at[i] += count * index.stride[i];
    return at;
  };
  // The range [from, from + size) of the indices up to `level`.
  const std::function<void(std::size_t, std::int64_t, std::int64_t, std::int64_t, const Offset&)> cut =
      [&](std::size_t level, std::int64_t begin, std::int64_t count, std::int64_t start, const Offset& at) {
        if (count <= 0) return;
        const std::int64_t inner = inside(box, level);
        const std::int64_t head = begin % inner == 0 ? 0 : std::min(count, inner - begin % inner);
        if (head > 0) cut(level - 1, begin % inner, head, start, plus(at, box[level], begin / inner));
        const std::int64_t whole = (count - head) / inner, first = (begin + head) / inner;
        if (whole > 0) {
          SubBox s{start + head,
                   whole * inner,
                   plus(at, box[level], first),
                   {box.begin(), box.begin() + static_cast<std::ptrdiff_t>(level)}};
          s.box.push_back({whole, box[level].stride});
          result.push_back(std::move(s));
        }
        const std::int64_t tail = count - head - whole * inner;
        if (tail > 0) cut(level - 1, 0, tail, start + head + whole * inner, plus(at, box[level], first + whole));
      };
  cut(box.size() - 1, from, size, from, {});
  return result;
}

void append_dims(std::vector<Dim>& dims, const BoxGroup& box, std::size_t operand) {
  for (auto i = box.rbegin(); i != box.rend(); ++i) dims.push_back({i->stride[operand], i->extent});
}

}  // namespace trn::tile::blocks
