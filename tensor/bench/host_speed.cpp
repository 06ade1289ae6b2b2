// trntensor on the host beside OpenBLAS and memcpy in the same run: the 24 headline contractions of the TCCG benchmark
// (column-major, as it has them; extents of the larger ones reduced), permutations, and a prepared plan of 8 x 8 x 8.
//
//   OMP_NUM_THREADS=1 build/release/tensor/bench/tensor_host_speed [tccg | permute | small] [case]
//   OMP_NUM_THREADS=2 build/release/tensor/bench/tensor_host_speed threads [case]
//
// Processor time of the calling thread, the least of five; `threads`: wall time with one thread and with two. NumPy,
// opt_einsum, torch, TBLIS and HPTT beside them: host_peers.py, which runs this program a case at a time (`list` prints
// the cases).
#include <cblas.h>
#include <fmt/core.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/tensor/einsum.hpp>
#include <trn/tensor/elementwise.hpp>

namespace {

using namespace trn;
using namespace trn::tensor;

double now(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
template <class F> double least(int runs, const F& f, clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    const double begin = now(clock);
    f();
    best = std::min(best, now(clock) - begin);
  }
  return best;
}

struct Contraction {
  const char* name;  // D-A-B, as TCCG writes it
  std::map<char, std::int64_t> sizes;
};
std::map<char, std::int64_t> all(const char* labels, std::int64_t extent) {
  std::map<char, std::int64_t> m;
  for (; *labels; ++labels) m[*labels] = extent;
  return m;
}
std::map<char, std::int64_t> with(std::map<char, std::int64_t> m, char label, std::int64_t extent) {
  m[label] = extent;
  return m;
}
const std::map<char, std::int64_t> kTriples = {{'a', 24}, {'b', 16}, {'c', 16}, {'d', 24},
                                               {'e', 16}, {'f', 16}, {'g', 24}};
const std::map<char, std::int64_t> kFive = {{'a', 48}, {'b', 32}, {'c', 32}, {'d', 32}, {'e', 48}, {'f', 32}};
const std::vector<Contraction> kTccg = {{"abc-bda-dc", with(all("abd", 312), 'c', 24)},
                                        {"abc-dca-bd", with(all("acd", 312), 'b', 24)},
                                        {"abcd-dbea-ec", with(all("abde", 72), 'c', 24)},
                                        {"abcd-deca-be", with(all("acde", 72), 'b', 24)},
                                        {"abcd-ebad-ce", with(all("abde", 72), 'c', 24)},
                                        {"abcde-efbad-cf", with(kFive, 'c', 24)},
                                        {"abcde-ecbfa-fd", with(kFive, 'd', 24)},
                                        {"abcde-efcad-bf", with(kFive, 'b', 24)},
                                        {"abcd-ea-ebcd", all("abcde", 72)},
                                        {"abcd-eb-aecd", all("abcde", 72)},
                                        {"abcd-ec-abed", all("abcde", 72)},
                                        {"ab-ac-cb", all("abc", 1024)},
                                        {"ab-acd-dbc", {{'a', 312}, {'b', 312}, {'c', 96}, {'d', 96}}},
                                        {"ab-cad-dcb", {{'a', 312}, {'b', 312}, {'c', 96}, {'d', 96}}},
                                        {"abc-acd-db", all("abcd", 152)},
                                        {"abc-adc-bd", all("abcd", 152)},
                                        {"abc-adec-ebd", all("abcde", 72)},
                                        {"abcd-aebf-dfce", all("abcdef", 32)},
                                        {"abcd-aebf-fdec", all("abcdef", 32)},
                                        {"abcd-eafd-fbec", all("abcdef", 32)},
                                        {"abcdef-dega-gfbc", kTriples},
                                        {"abcdef-gdab-efgc", kTriples},
                                        {"abcdef-geac-dfgb", kTriples},
                                        {"abcdef-gfab-degc", kTriples}};

void gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, m, b, k, 0, c, m);
}
void gemm(int m, int n, int k, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, m, b, k, 0, c, m);
}

// Memory as the library allocates it (large pages where there are), for ours and for OpenBLAS.
template <class T> Array<T> numbers(std::int64_t count) {
  Array<T> x(Executor::host(), {count});
  std::mt19937 random(1);
  for (std::int64_t i = 0; i < count; ++i) x.data()[i] = static_cast<T>(random() % 1000) / 1000;
  return x;
}

// One contraction with operands of random numbers, ready to run.
template <class T> struct Prepared {
  explicit Prepared(const Contraction& c) {
    const std::string text = c.name;
    const std::size_t first = text.find('-'), second = text.rfind('-');
    const std::string d = text.substr(0, first), a = text.substr(first + 1, second - first - 1),
                      b = text.substr(second + 1);
    views = {tensor(c, a, memory[0]), tensor(c, b, memory[1])};
    out.emplace(tensor(c, d, memory[2]));
    plan.emplace(
        Executor::host(),
        Description{parse(a + "," + b + "->" + d), {operand_of(views[0]), operand_of(views[1])}, operand_of(*out)});
    workspace.emplace(Executor::host(), plan->workspace_bytes());
    for (const auto& [label, extent] : c.sizes) {
      const bool in_a = a.find(label) != std::string::npos, in_d = d.find(label) != std::string::npos;
      (!in_d ? k : in_a ? m : n) *= extent;
    }
  }
  void run() const { plan->execute(views, *out, {}, nullptr, *workspace); }

  std::vector<TypedView> views;
  std::optional<TypedView> out;
  std::optional<Plan> plan;
  std::int64_t m = 1, n = 1, k = 1;

 private:
  static TypedView tensor(const Contraction& c, const std::string& labels, Array<T>& memory) {
    Shape shape;
    for (const char l : labels) shape.push_back(c.sizes.at(l));
    memory = numbers<T>(element_count(shape));
    return {Executor::host(), dtype_of<T>, memory.data(), shape, column_major_strides(shape)};
  }
  Array<T> memory[3] = {numbers<T>(0), numbers<T>(0), numbers<T>(0)};
  std::optional<Buffer> workspace;
};

template <class T> void tccg(const std::string& only) {
  fmt::print("{:<20} {:>8} {:>8} {:>6} {:>7} {:>7} {:>6}  {}\n", sizeof(T) == 4 ? "float32" : "float64", "m", "n", "k",
             "GF/s", "gemm", "ratio", "algorithm");
  double logarithms = 0, worst = 1e9;
  int count = 0;
  for (const Contraction& c : kTccg) {
    if (!only.empty() && only != c.name) continue;
    const Prepared<T> p(c);
    const Array<T> a = numbers<T>(p.m * p.k), b = numbers<T>(p.k * p.n), d = numbers<T>(p.m * p.n);
    double ours = 1e9, peer = 1e9;
    for (int i = 0; i < 5; ++i) {  // in turn, so that both meet the same machine
      ours = std::min(ours, least(1, [&] { p.run(); }));
      peer = std::min(peer, least(1, [&] {
                        gemm(static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), a.data(), b.data(),
                             d.data());
                      }));
    }
    ++count;
    logarithms += std::log(peer / ours);
    worst = std::min(worst, peer / ours);
    fmt::print("{:<20} {:>8} {:>8} {:>6} {:>7.1f} {:>7.1f} {:>6.2f}  {}\n", c.name, p.m, p.n, p.k,
               p.plan->flops() / ours * 1e-9, p.plan->flops() / peer * 1e-9, peer / ours, p.plan->steps()[0].algorithm);
    std::fflush(stdout);
  }
  fmt::print("geometric mean {:.3f}, worst {:.2f}\n", std::exp(logarithms / std::max(1, count)), worst);
}

// Wall time with one thread over that with two, the least of five each.
void threads(const std::string& only) {
  fmt::print("{:<20} {:>10} {:>10} {:>6}\n", "float32", "1 thread", "2 threads", "ratio");
  double logarithms = 0, worst = 1e9;
  int count = 0;
  for (const Contraction& c : kTccg) {
    if (!only.empty() && only != c.name) continue;
    // A plan takes its number of threads when it is made.
    std::optional<Prepared<float>> plans[2];
    for (const int team : {1, 2}) {
      omp_set_num_threads(team);
      plans[team - 1].emplace(c);
    }
    double seconds[2] = {1e9, 1e9};
    for (int i = 0; i < 5; ++i) {
      for (const int team : {1, 2}) {
        const Prepared<float>& p = *plans[team - 1];
        omp_set_num_threads(team);
        seconds[team - 1] = std::min(seconds[team - 1], least(
                                                            1, [&] { p.run(); }, CLOCK_MONOTONIC));
      }
    }
    ++count;
    logarithms += std::log(seconds[0] / seconds[1]);
    worst = std::min(worst, seconds[0] / seconds[1]);
    fmt::print("{:<20} {:>7.2f} ms {:>7.2f} ms {:>6.2f}\n", c.name, seconds[0] * 1e3, seconds[1] * 1e3,
               seconds[0] / seconds[1]);
    std::fflush(stdout);
  }
  fmt::print("geometric mean {:.3f}, worst {:.2f}\n", std::exp(logarithms / std::max(1, count)), worst);
}

const std::vector<std::pair<const char*, Shape>> kPermutations = {{"ab->ba", {5136, 5136}},
                                                                  {"abc->acb", {296, 296, 296}},
                                                                  {"abc->bac", {296, 296, 296}},
                                                                  {"abc->bca", {296, 296, 296}},
                                                                  {"abc->cab", {296, 296, 296}},
                                                                  {"abc->cba", {296, 296, 296}},
                                                                  {"abcd->dcba", {72, 72, 72, 72}},
                                                                  {"abcd->badc", {72, 72, 72, 72}},
                                                                  {"abcd->cdab", {72, 72, 72, 72}},
                                                                  {"abcd->acdb", {72, 72, 72, 72}},
                                                                  {"abcde->edcba", {32, 32, 24, 32, 32}},
                                                                  {"abcde->badce", {32, 32, 24, 32, 32}},
                                                                  {"abcde->cadeb", {32, 32, 24, 32, 32}},
                                                                  {"abcdef->fedcba", {16, 16, 24, 16, 16, 16}},
                                                                  {"abcdef->badcfe", {16, 16, 24, 16, 16, 16}}};

void permutations(const std::string& only) {
  fmt::print("{:<18} {:>8} {:>8} {:>6}\n", "float32", "GB/s", "memcpy", "ratio");
  double logarithms = 0, worst = 1e9;
  int count = 0;
  for (const auto& [text, shape] : kPermutations) {
    if (!only.empty() && only != text) continue;
    ++count;
    const Array<float> a(Executor::host(), shape);
    for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = static_cast<float>(i);
    const TypedView from(a.view());
    const Array<float> d(Executor::host(), trn::tensor::detail::result_shape("bench", text, std::span(&from, 1)));
    double ours = 1e9, peer = 1e9;
    const double bytes = 8.0 * static_cast<double>(a.size());
    for (int i = 0; i < 4; ++i) {
      ours = std::min(ours, least(1, [&] { permute(Executor::host(), text, a.view(), d.view()); }));
      peer = std::min(peer, least(1, [&] { std::memcpy(d.data(), a.data(), static_cast<std::size_t>(bytes / 2)); }));
    }
    logarithms += std::log(peer / ours);
    worst = std::min(worst, peer / ours);
    fmt::print("{:<18} {:>8.1f} {:>8.1f} {:>6.2f}\n", text, bytes / ours * 1e-9, bytes / peer * 1e-9, peer / ours);
    std::fflush(stdout);
  }
  fmt::print("geometric mean {:.3f} of memcpy, worst {:.2f}\n", std::exp(logarithms / std::max(1, count)), worst);
}

void small() {
  const Array<float> a(Executor::host(), {8, 8}), b(Executor::host(), {8, 8}), d(Executor::host(), {8, 8});
  std::fill(a.data(), a.data() + 64, 1.f);
  std::fill(b.data(), b.data() + 64, 1.f);
  const std::vector<TypedView> views = {a.view(), b.view()};
  const TypedView out(d.view());
  for (const char* text : {"ij,jk->ik", "ij,kj->ki"}) {
    const Plan plan(Executor::host(), {parse(text), {operand_of(views[0]), operand_of(views[1])}, operand_of(out)});
    const Buffer workspace(Executor::host(), std::max<std::int64_t>(1, plan.workspace_bytes()));
    constexpr int kCalls = 20000;
    const double t = least(5, [&] {
      for (int i = 0; i < kCalls; ++i) plan.execute(views, out, {}, nullptr, workspace);
    });
    fmt::print("prepared {} of 8 x 8 x 8: {:.0f} ns a call ({})\n", text, t / kCalls * 1e9, plan.steps()[0].algorithm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "", only = argc > 2 ? argv[2] : "";
  if (what == "list") {
    for (const Contraction& c : kTccg) {
      fmt::print("tccg {}", c.name);
      for (const auto& [label, extent] : c.sizes) fmt::print(" {}={}", label, extent);
      fmt::print("\n");
    }
    for (const auto& [text, shape] : kPermutations) fmt::print("permute {} {}\n", text, to_string(shape));
  }
  if (what == "threads") threads(only);
  if (what.empty() || what == "small") small();
  if (what.empty() || what == "permute") permutations(only);
  if (what.empty() || what == "tccg" || what == "tccg32") tccg<float>(only);
  if (what.empty() || what == "tccg" || what == "tccg64") tccg<double>(only);
}
