// The command line's words to a description, and operands to go with it.
#include "einsum_case.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <new>
#include <random>
#include <stdexcept>

#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>

namespace trn::tools {

namespace {

using tensor::PathMethod;

const std::vector<std::pair<std::string, PathMethod>> kPaths = {{"auto", PathMethod::Auto},
                                                                {"exhaustive", PathMethod::Exhaustive},
                                                                {"dp", PathMethod::Dp},
                                                                {"branch-and-bound", PathMethod::BranchAndBound},
                                                                {"greedy", PathMethod::Greedy},
                                                                {"random-greedy", PathMethod::RandomGreedy},
                                                                {"partition", PathMethod::Partition},
                                                                {"anneal", PathMethod::Anneal}};

// "a=24" for every label of the expression.
tensor::Sizes sizes_of(const tensor::Expression& e, const std::vector<std::string>& words) {
  std::map<std::string, std::int64_t> given;
  for (std::string word : words) {
    word.erase(0, word.find_first_not_of(' '));  // "i=2, j=3", as people write lists
    const std::size_t at = word.find('=');
    std::int64_t extent = -1;
    const char *begin = word.data() + at + 1, *end = word.data() + word.size();
    const bool labelled = at != std::string::npos && at > 0;
    const auto [last, problem] = labelled ? std::from_chars(begin, end, extent) : std::from_chars_result{nullptr, {}};
    const bool good = labelled && last == end;
    require(!good || problem != std::errc::result_out_of_range, "einsum: --sizes {}; an extent is at most {}", word,
            std::numeric_limits<std::int64_t>::max());
    require(good && extent >= 0, "einsum: --sizes {}; write LABEL=EXTENT, like a=24", word);
    require(given.emplace(word.substr(0, at), extent).second, "einsum: --sizes gives label '{}' twice",
            word.substr(0, at));
  }
  tensor::Sizes sizes;
  for (const std::string& name : e.names) {
    const auto found = given.find(name);
    require(found != given.end(), "einsum: --sizes lacks label '{}' of {}", name, tensor::to_string(e));
    sizes.push_back(found->second);
    given.erase(found);
  }
  require(given.empty(), "einsum: --sizes has label '{}', which is not in {}",
          given.empty() ? "" : given.begin()->first, tensor::to_string(e));
  return sizes;
}

// "exp,identity,relu".
std::vector<tensor::Unary> operators_of(const std::string& list) {
  std::vector<tensor::Unary> operators;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(',', from), list.size());
    const std::string word = list.substr(from, to - from);
    const auto all = tensor::all_unary();
    const auto found = std::find_if(all.begin(), all.end(), [&](tensor::Unary op) { return tensor::name(op) == word; });
    std::string known;
    for (const tensor::Unary op : all) known += (known.empty() ? "" : ", ") + std::string(tensor::name(op));
    require(found != all.end(), "einsum: --operators has '{}'; there are {}", word, known);
    operators.push_back(*found);
    from = to + 1;
  }
  return operators;
}

Buffer random_numbers(const Executor& executor, DType dtype, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const std::int64_t parts = is_complex(dtype) ? 2 : 1;
  std::vector<double> values(static_cast<std::size_t>(count * parts));
  for (double& x : values) x = uniform(random);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * size_bytes(dtype)));
  from_double(values.data(), real_of(dtype), bytes.data(), count * parts);
  Buffer result(executor, static_cast<std::int64_t>(bytes.size()));
  copy_bytes(Executor::host(), bytes.data(), executor, result.data(), result.bytes());
  return result;
}

// Runs f, which allocates; says how much it wanted when there is not so much.
template <class F> auto allocating(const std::string& what, std::int64_t bytes, const Executor& executor, F f) {
  const auto message = [&] {
    return fmt::format("einsum: {} takes {} bytes, which could not be allocated on '{}'", what, bytes, executor.name());
  };
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(message());
  } catch (const std::length_error&) {  // of a std::vector
    throw std::runtime_error(message());
  }
}

}  // namespace

const std::vector<std::string>& path_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& [name, method] : kPaths) list.push_back(name);
    return list;
  }();
  return names;
}

EinsumOperands::EinsumOperands(const Executor& executor, const EinsumCase& what) {
  description_.expression = tensor::parse(what.text);
  const tensor::Expression& e = description_.expression;
  const tensor::Sizes sizes = sizes_of(e, what.sizes);
  const DType dtype = parse_dtype(what.dtype);
  require(tensor::is_tensor_type(dtype),
          "einsum: no tensors of dtype {}; use float32, float64, complex64, complex128, "
          "bfloat16 or float16",
          name(dtype));
  description_.precision = Precision::parse(what.precision);
  const auto path = std::find_if(kPaths.begin(), kPaths.end(), [&](const auto& p) { return p.first == what.path; });
  require(path != kPaths.end(), "einsum: no path method '{}'", what.path);
  description_.path.method = path->second;
  description_.memory_bytes = what.memory_bytes;
  const auto shape = [&](const std::vector<tensor::Label>& labels) {
    Shape s;
    for (const tensor::Label l : labels) s.push_back(sizes[static_cast<std::size_t>(l)]);
    return s;
  };
  for (std::size_t i = 0; i < e.inputs.size(); ++i) {
    const Shape s = shape(e.inputs[i]);
    memory_.push_back(allocating(fmt::format("operand {}", i + 1), byte_count(s, size_bytes(dtype)), executor,
                                 [&] { return random_numbers(executor, dtype, element_count(s), i + 1); }));
    operands_.emplace_back(executor, dtype, memory_.back().data(), s);
    description_.operands.push_back(tensor::operand_of(operands_.back()));
  }
  const Shape s = shape(e.output);
  const std::int64_t bytes = byte_count(s, size_bytes(dtype));
  memory_.push_back(allocating("the result", bytes, executor, [&] { return Buffer(executor, bytes); }));
  output_.emplace_back(executor, dtype, memory_.back().data(), s);
  description_.output = tensor::operand_of(output_.back());
  if (what.operators.empty()) return;
  const std::vector<tensor::Unary> operators = operators_of(what.operators);
  require(operators.size() <= e.inputs.size() + 1, "einsum: --operators has {} words for {} operands and a result",
          operators.size(), e.inputs.size());
  for (std::size_t i = 0; i < operators.size(); ++i) {
    (i < e.inputs.size() ? description_.operands[i] : description_.output).op = operators[i];
  }
}

}  // namespace trn::tools
