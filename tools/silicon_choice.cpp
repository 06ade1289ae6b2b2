// Asking a device: run the kernel, compare its bits with every rule's. NaN equals NaN whatever its payload.
#include "silicon_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/launch.hpp>

#include "silicon_report.hpp"

namespace trn::tools::silicon {

Bytes as(DType dtype, const Values& values) {
  Bytes bytes(values.size() * static_cast<std::size_t>(size_bytes(dtype)));
  from_double(values.data(), dtype, bytes.data(), static_cast<std::int64_t>(values.size()));
  return bytes;
}

tile::Access Question::tile(const std::string& name, DType type, std::int64_t partitions, std::int64_t free,
                            Bytes bytes) {
  ensure(static_cast<std::int64_t>(bytes.size()) == partitions * free * size_bytes(type), "choice {}: operand '{}'",
         number, name);
  inputs[name] = std::move(bytes);
  const tile::Access source = b.input(name, type, {partitions, free}),
                     t = b.sbuf(name + "_sb", partitions, {free}, type);
  b.dma_copy(t, source);
  return t;
}

void Question::answer(const tile::Access& t, bool psum) {
  dtype = t.dtype;
  tile::Access source = t;
  if (psum) {
    source = b.sbuf("answer_sb", t.partitions, {t.free_size()}, t.dtype);
    b.tensor_copy(source, t, tile::Engine::Vector);
  }
  b.dma_copy(b.output("out", t.dtype, {t.partitions, t.free_size()}), source);
}

namespace {

bool same(DType dtype, const std::uint8_t* a, const std::uint8_t* b) {
  if (std::memcmp(a, b, static_cast<std::size_t>(size_bytes(dtype))) == 0) return true;
  if (!is_float(dtype)) return false;
  double x = 0, y = 0;
  to_double(dtype, a, &x, 1);
  to_double(dtype, b, &y, 1);
  return std::isnan(x) && std::isnan(y);
}

std::vector<std::size_t> differences(DType dtype, const Bytes& a, const Bytes& b) {
  const auto size = static_cast<std::size_t>(size_bytes(dtype));
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < a.size() / size; ++i) {
    if (!same(dtype, a.data() + i * size, b.data() + i * size)) result.push_back(i);
  }
  return result;
}

std::string hexadecimal(DType dtype, const Bytes& bytes, const std::vector<std::size_t>& which) {
  constexpr std::size_t kShown = 8;
  const auto size = static_cast<std::size_t>(size_bytes(dtype));
  std::string text;
  for (std::size_t k = 0; k < std::min(kShown, which.size()); ++k) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + which[k] * size, size);
    text += fmt::format("{}{:0{}x}", k == 0 ? "" : " ", value, 2 * size);
  }
  return text;
}

Bytes run(const Executor& executor, Question& q) {
  const tile::Program program = q.b.finish();
  std::vector<tile::Argument> arguments;
  std::vector<Array<std::uint8_t>> memory;
  memory.reserve(q.inputs.size() + 1);
  for (const auto& [name, bytes] : q.inputs) {
    memory.push_back(
        Array<std::uint8_t>::from_host(executor, {static_cast<std::int64_t>(bytes.size())}, std::span(bytes)));
    arguments.emplace_back(name, static_cast<const void*>(memory.back().view().data()));
  }
  memory.emplace_back(executor, Shape{static_cast<std::int64_t>(q.rules.front().bits.size())});
  arguments.emplace_back("out", static_cast<void*>(memory.back().view().data()));
  tile::launch(executor, program, arguments);
  return memory.back().to_host();
}

}  // namespace

Finding ask(const Executor& executor, Question& q) {
  Finding f;
  f.number = q.number;
  f.title = q.title;
  const Bytes& expected = q.rules.front().bits;
  f.elements = static_cast<std::int64_t>(expected.size()) / size_bytes(q.dtype);
  Bytes found;
  try {
    found = run(executor, q);
  } catch (const Error& e) {
    if (stopped_compiling(e)) throw;
    f.status = "failed";
    f.rule = e.what();
    return f;
  }
  const auto differing = differences(q.dtype, expected, found);
  f.differing = static_cast<std::int64_t>(differing.size());
  for (const Rule& r : q.rules) {
    if (!differences(q.dtype, r.bits, found).empty()) continue;
    f.rule = r.name;
    break;
  }
  f.status = differing.empty() ? "confirmed" : f.rule.empty() ? "undecided" : "other";
  std::vector<std::size_t> shown = differing;
  for (std::size_t i = 0; shown.empty() && i < static_cast<std::size_t>(f.elements) && i < 8; ++i) shown.push_back(i);
  if (differing.empty()) {
    for (std::size_t i = 1; i < std::min<std::size_t>(8, static_cast<std::size_t>(f.elements)); ++i) shown.push_back(i);
  }
  f.expected = hexadecimal(q.dtype, expected, shown);
  f.found = hexadecimal(q.dtype, found, shown);
  return f;
}

std::vector<Question> questions(const tile::Machine& machine) {
  std::vector<Question> all;
  add_tensor_questions(all, machine);
  add_vector_questions(all, machine);
  add_other_questions(all, machine);
  std::stable_sort(all.begin(), all.end(), [](const Question& a, const Question& b) { return a.number < b.number; });
  return all;
}

const std::vector<Undecidable>& undecidable() {
  static const std::vector<Undecidable> all{
      {4, "is_transpose with a moving operand that is not the identity", "such a program is refused before it runs"},
      {27, "stochastic rounding", "AWS does not publish the generator"},
      {28, "reinterpreting a tile in Wide storage", "about the simulator, not about hardware"},
      {33, "how far loads run ahead", "the compiler's schedule: a profile shows it, results do not"},
      {39, "who triggers a DMA", "the compiler's rule: a profile shows it, results do not"},
      {41, "the compiler's instruction order", "a profile shows it, results do not"}};
  return all;
}

}  // namespace trn::tools::silicon
