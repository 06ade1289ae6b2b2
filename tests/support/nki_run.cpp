// The harness of nki_run.hpp: memory for the bindings, files for the stand-in, and the comparison. In every test
// program that uses it, its own test checks that a wrong bit would be seen.
#include "support/nki_run.hpp"
#include "test_paths.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <sstream>
#include <trn/core/convert.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>

namespace trn::neuron::testing {

namespace {

using nlohmann::json;
using tile::TensorDecl;
using tile::TensorKind;

// The memory of one tensor from its lowest to its highest element.
struct Memory {
  const TensorDecl* tensor;
  std::vector<unsigned char> bytes;
  std::int64_t lowest;

  explicit Memory(const TensorDecl& t) : tensor(&t) {
    const OffsetRange range = offset_range(t.shape, t.strides);
    lowest = range.lowest;
    bytes.assign(static_cast<std::size_t>((range.highest - range.lowest + 1) * size_bytes(t.dtype)), 0xA5);
  }
  unsigned char* at(std::int64_t element) { return bytes.data() + (element - lowest) * size_bytes(tensor->dtype); }
  // The address of the i-th element in row-major order of the shape.
  unsigned char* element(std::int64_t i) {
    std::int64_t offset = 0;
    for (std::size_t d = tensor->shape.size(); d-- > 0;) {
      offset += i % tensor->shape[d] * tensor->strides[d];
      i /= tensor->shape[d];
    }
    return at(offset);
  }
};

Values random_values(DType dtype, std::uint64_t seed) {
  auto rng = std::make_shared<std::mt19937_64>(seed);
  if (is_float(dtype)) {
    return [rng](std::int64_t) { return std::normal_distribution<double>()(*rng); };
  }
  const bool is_signed = dtype == DType::Int32 || dtype == DType::Int16 || dtype == DType::Int8;
  return [rng, is_signed](std::int64_t) {
    return static_cast<double>(std::uniform_int_distribution<int>(is_signed ? -100 : 0, 120)(*rng));
  };
}

Memory filled(const TensorDecl& t, const Inputs& inputs, std::uint64_t seed) {
  Memory m(t);
  const auto given = inputs.find(t.name);
  const Values values = given != inputs.end() ? given->second : random_values(t.dtype, seed);
  for (std::int64_t i = 0; i < element_count(t.shape); ++i) {
    const double v = values(i);
    from_double(&v, t.dtype, m.element(i), 1);
  }
  return m;
}

void write_file(const std::filesystem::path& path, const void* data, std::size_t n) {
  std::ofstream(path, std::ios::binary).write(static_cast<const char*>(data), static_cast<std::streamsize>(n));
}

// The shape the emitted kernel sees: the tensor's own, or its flat memory when it is strided.
Shape argument_shape(const Memory& m) {
  if (m.tensor->strides == row_major_strides(m.tensor->shape)) return m.tensor->shape;
  return {static_cast<std::int64_t>(m.bytes.size()) / size_bytes(m.tensor->dtype)};
}

// One memory per tensor; an input and the output that continues it share one. Scratch has none.
class Memories {
 public:
  Memories(const tile::Program& program, const Inputs& inputs)
      : program_(program), of_tensor_(program.tensors().size()) {
    const auto& tensors = program.tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].kind == TensorKind::Scratch) continue;
      const auto shared =
          std::find_if(tensors.begin(), tensors.end(), [&](const TensorDecl& t) { return t.name == tensors[i].alias; });
      of_tensor_[i] = memories_.size();
      if (shared != tensors.end() && !tensors[i].alias.empty()) {
        of_tensor_[i] = of_tensor_[static_cast<std::size_t>(shared - tensors.begin())];
      } else if (tensors[i].kind == TensorKind::Input) {
        memories_.push_back(filled(tensors[i], inputs, i + 1));
      } else {
        memories_.emplace_back(tensors[i]);
      }
    }
  }

  Memory& of(std::int32_t tensor) { return memories_[of_tensor_[static_cast<std::size_t>(tensor)]]; }
  // Every name but those of inputs that an output continues: one name is enough.
  [[nodiscard]] std::vector<tile::Binding> bindings() {
    std::vector<tile::Binding> result;
    for (std::size_t i = 0; i < program_.tensors().size(); ++i) {
      const TensorDecl& t = program_.tensors()[i];
      const bool continued = std::any_of(program_.tensors().begin(), program_.tensors().end(),
                                         [&](const TensorDecl& o) { return !o.alias.empty() && o.alias == t.name; });
      if (t.kind != TensorKind::Scratch && !continued)
        result.push_back({t.name, of(static_cast<std::int32_t>(i)).at(0)});
    }
    return result;
  }

 private:
  const tile::Program& program_;
  std::vector<std::size_t> of_tensor_;
  std::vector<Memory> memories_;
};

json manifest_of(const tile::Program& program, Memories& memories) {
  json manifest{{"module", "kernel.py"}, {"kernel", program.name()}, {"target", program.machine()}};
  manifest["inputs"] = json::array();
  manifest["outputs"] = json::array();
  const NkiTensors tensors = nki_tensors(program);
  for (const std::int32_t i : tensors.arguments) {
    const TensorDecl& t = program.tensors()[static_cast<std::size_t>(i)];
    manifest["inputs"].push_back(
        {{"file", t.name + ".bin"}, {"dtype", name(t.dtype)}, {"shape", argument_shape(memories.of(i))}});
  }
  for (const std::int32_t i : tensors.results) {
    json output{{"file", program.tensors()[static_cast<std::size_t>(i)].name + ".out"}};
    const auto argument = std::find(tensors.arguments.begin(), tensors.arguments.end(), i);
    if (argument != tensors.arguments.end()) output["argument"] = argument - tensors.arguments.begin();
    manifest["outputs"].push_back(output);
  }
  return manifest;
}

// Runs the emitted text on `memories`; those of outputs are overwritten.
void run_stand_in(const tile::Program& program, Memories& memories, const NkiOptions& options) {
  static int count = 0;
  const auto folder =
      std::filesystem::temp_directory_path() / ("trn_nki_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  std::filesystem::create_directories(folder);
  const std::string text = emit_nki(program, options), manifest = manifest_of(program, memories).dump();
  write_file(folder / "kernel.py", text.data(), text.size());
  write_file(folder / "manifest.json", manifest.data(), manifest.size());
  const NkiTensors tensors = nki_tensors(program);
  const auto name_of = [&](std::int32_t i) { return program.tensors()[static_cast<std::size_t>(i)].name; };
  for (const std::int32_t i : tensors.arguments) {
    const Memory& m = memories.of(i);
    write_file(folder / (name_of(i) + ".bin"), m.bytes.data(), m.bytes.size());
  }
  const std::string command = std::string(TRN_PYTHON) + " -B " + TRN_SOURCE_DIR + "/tests/nki_standin/run_kernel.py " +
                              (folder / "manifest.json").string() + " 2>&1";
  std::string log;
  FILE* pipe = popen(command.c_str(), "r");
  for (char line[256]; std::fgets(line, sizeof line, pipe);) log += line;
  const int status = pclose(pipe);
  ASSERT_EQ(status, 0) << log << "\n" << text;
  for (const std::int32_t i : tensors.results) {
    Memory& m = memories.of(i);
    std::ifstream in(folder / (name_of(i) + ".out"), std::ios::binary);
    in.read(reinterpret_cast<char*>(m.bytes.data()), static_cast<std::streamsize>(m.bytes.size()));
    ASSERT_EQ(in.gcount(), static_cast<std::streamsize>(m.bytes.size())) << name_of(i) << "\n" << text;
  }
  std::filesystem::remove_all(folder);
}

// Floats in order, neighbours one apart.
std::int64_t ordered(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  return bits < 0 ? std::int64_t(std::numeric_limits<std::int32_t>::min()) - bits : bits;
}

bool same(const TensorDecl& t, const unsigned char* a, const unsigned char* b, std::int64_t ulps) {
  if (std::memcmp(a, b, static_cast<std::size_t>(size_bytes(t.dtype))) == 0) return true;
  float x = 0, y = 0;
  to_float(t.dtype, a, &x, 1);
  to_float(t.dtype, b, &y, 1);
  if (std::isnan(x) && std::isnan(y)) return true;
  return ulps > 0 && t.dtype == DType::Float32 && std::abs(ordered(x) - ordered(y)) <= ulps;
}

// How many elements differ; the first ones are described in `report`.
std::int64_t differences(Memory& emitted, Memory& simulated, std::int64_t ulps, std::string& report) {
  const TensorDecl& t = *emitted.tensor;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < element_count(t.shape); ++i) {
    unsigned char *a = emitted.element(i), *b = simulated.element(i);
    if (same(t, a, b, ulps)) continue;
    if (++count > 4) continue;
    double x = 0, y = 0;
    to_double(t.dtype, a, &x, 1);
    to_double(t.dtype, b, &y, 1);
    report += fmt::format("{}[{}]: stand-in {:.9g}, simulator {:.9g}\n", t.name, i, x, y);
  }
  // What lies between the elements of a strided tensor is nobody's to change.
  std::vector<bool> element(emitted.bytes.size());
  for (std::int64_t i = 0; i < element_count(t.shape); ++i) {
    const auto first = emitted.element(i) - emitted.bytes.data();
    std::fill_n(element.begin() + first, size_bytes(t.dtype), true);
  }
  for (std::size_t b = 0; b < element.size(); ++b) {
    if (element[b] || emitted.bytes[b] == simulated.bytes[b]) continue;
    ++count;
    report += fmt::format("{}: byte {} between the elements differs\n", t.name, b);
  }
  return count;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The hash in the header covers every field of the program's structs; the golden files leave it out.
std::string without_hash(const std::string& text) {
  return std::regex_replace(text, std::regex("tile program [0-9a-f]{16};"), "tile program <hash>;");
}

}  // namespace

void expect_python_accepts(const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() / ("trn_nki_emit_" + std::to_string(getpid()) + ".py");
  std::ofstream(path) << text;
  const std::string command = std::string(TRN_PYTHON) + " -m py_compile " + path.string();
  EXPECT_EQ(std::system(command.c_str()), 0) << text;
  std::filesystem::remove(path);
}

void expect_golden(const tile::Program& program, const std::string& file) {
  expect_python_accepts(emit_nki(program));
  const std::string text = without_hash(emit_nki(program));
  const std::filesystem::path path = std::filesystem::path(TRN_SOURCE_DIR) / file;
  if (const char* update = std::getenv("TRN_UPDATE_GOLDEN"); update && std::string(update) == "1") {
    std::ofstream(path) << text;
    GTEST_SKIP() << "wrote " << path;
  }
  EXPECT_EQ(text, read(path)) << "if the change is meant, run this test with TRN_UPDATE_GOLDEN=1";
}

void expect_agreement(const tile::Program& program, const Inputs& inputs, std::int64_t ulps,
                      const NkiOptions& options) {
  Memories emitted(program, inputs), simulated(program, inputs);
  simulate(program, tile::machine(program.machine()), simulated.bindings(), {.order = Order::in_order()});
  run_stand_in(program, emitted, options);
  if (::testing::Test::HasFatalFailure()) return;
  for (const std::int32_t i : nki_tensors(program).results) {
    std::string report;
    const std::int64_t count = differences(emitted.of(i), simulated.of(i), ulps, report);
    EXPECT_EQ(count, 0) << report << emit_nki(program, options);
  }
}

tile::Access Kernel::load(const std::string& name, DType dtype, std::int64_t partitions, const Shape& free) {
  Shape shape{partitions};
  shape.insert(shape.end(), free.begin(), free.end());
  const tile::Access source = b.input(name, dtype, shape), t = b.sbuf(name + "_sb", partitions, free, dtype);
  b.dma_copy(t, source);
  return t;
}

void Kernel::store(const std::string& name, const tile::Access& source) {
  Shape shape{source.partitions};
  for (const tile::Dim& d : source.dims) shape.push_back(d.size);
  b.dma_copy(b.output(name, source.dtype, shape), source);
}

TEST(NkiRun, SeesOneWrongBit) {
  const TensorDecl t{"t", TensorKind::Output, DType::Float32, {2, 3}, {1, 4}};
  Memory a(t), b(t);
  std::string report;
  EXPECT_EQ(differences(a, b, 0, report), 0);
  *b.at(5) ^= 1;  // element (1, 1)
  EXPECT_EQ(differences(a, b, 0, report), 1);
  EXPECT_NE(report.find("t[4]"), std::string::npos) << report;
  EXPECT_EQ(differences(a, b, 1, report), 0);
  *b.at(6) ^= 1;  // between columns: no element of t
  EXPECT_EQ(differences(a, b, 0, report), 2);
}

}  // namespace trn::neuron::testing
