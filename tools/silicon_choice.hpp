// Numerical choices of docs/simulator.md as questions that a device can answer: a small kernel, its operands, and the
// bits that each of several rules would give. The rules are computed here on the host, not by the simulator. The first
// one is the simulator's; which of them a device follows is the answer.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <trn/core/convert.hpp>
#include <trn/core/executor.hpp>
#include <trn/core/float_types.hpp>
#include <trn/tile/builder.hpp>

namespace trn::tools::silicon {

using Values = std::vector<double>;
using Bytes = std::vector<std::uint8_t>;

[[nodiscard]] Bytes as(DType dtype, const Values& values);  // each rounded once
[[nodiscard]] inline Bytes words(const std::vector<std::uint32_t>& values) {
  Bytes bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
[[nodiscard]] inline Bytes floats(const std::vector<float>& values) {
  Bytes bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct Rule {
  std::string name;
  Bytes bits;
};

// One kernel with one output called "out".
class Question {
 public:
  Question(int choice, std::string what, const tile::Machine& machine)
      : number(choice), title(std::move(what)), b("choice_" + std::to_string(choice), machine) {}

  // An SBUF tile that holds these elements.
  tile::Access tile(const std::string& name, DType type, std::int64_t partitions, std::int64_t free, Bytes bytes);
  tile::Access tile(const std::string& name, DType type, std::int64_t partitions, std::int64_t free,
                    const Values& values) {
    return tile(name, type, partitions, free, as(type, values));
  }
  tile::Access empty(const std::string& name, DType type, std::int64_t partitions, std::int64_t free) {
    return b.sbuf(name, partitions, {free}, type);
  }
  // The answer: this tile, or a PSUM tile through SBUF.
  void answer(const tile::Access& tile, bool psum = false);
  void rule(std::string name, Bytes bits) { rules.push_back({std::move(name), std::move(bits)}); }

  int number;
  std::string title;
  tile::Builder b;
  std::map<std::string, Bytes> inputs;
  DType dtype = DType::Float32;  // of the answer
  std::vector<Rule> rules;       // the first is the simulator's
};

// Choices that no program can decide, with the reason.
struct Undecidable {
  int number;
  const char* title;
  const char* reason;
};

struct Finding {
  int number = 0;
  std::string title, status;  // "confirmed", "other", "undecided", "failed"
  std::string rule;           // the rule that was found; of "failed" the error
  std::string expected;       // what the simulator's rule gives, in hexadecimal: the first elements that tell
  std::string found;
  std::int64_t differing = 0, elements = 0;
};

// All questions for a machine, in the order of their numbers.
[[nodiscard]] std::vector<Question> questions(const tile::Machine& machine);
[[nodiscard]] const std::vector<Undecidable>& undecidable();
[[nodiscard]] Finding ask(const Executor& executor, Question& question);

// Parts of the list.
void add_tensor_questions(std::vector<Question>& all, const tile::Machine& machine);
void add_vector_questions(std::vector<Question>& all, const tile::Machine& machine);
void add_other_questions(std::vector<Question>& all, const tile::Machine& machine);

}  // namespace trn::tools::silicon
