// A row of random bits for numpy.random.Generator: NumPy's structure bitgen_t over a generator of trnrand.
//
// NumPy asks for one number at a time. The words are made 512 blocks of four at a time; number i of a stream is that of
// raw64, words 2 i (low) and 2 i + 1 (high). 32-bit numbers are halves of 64-bit ones, the low half first, and doubles
// are multiples of 2^-53: what NumPy's own generators do.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>

#include <trn/rand/raw64.hpp>

#include "context.hpp"
#include "rand.hpp"

namespace trn::python {
namespace {

constexpr std::size_t kNumbers = 1024;

// A stream has the numbers of words 0 .. 2^64 - 3 and then begins again: 2^63 - 1 numbers. The two words after them
// belong to none, since a generator's position ends at 2^64 - 1. Positions here are even and below this.
constexpr std::uint64_t kPeriod = ~std::uint64_t{0} - 1;

std::uint64_t advanced(std::uint64_t position, std::uint64_t words) {  // both below kPeriod
  return words < kPeriod - position ? position + words : words - (kPeriod - position);
}

struct BitStream {
  rand::State state;  // position: the first word of the numbers in `ready`
  std::array<std::uint64_t, kNumbers> ready;
  std::size_t next = kNumbers;  // kNumbers: nothing is ready, and the next number begins at state.position
  bool has_half = false;
  std::uint32_t half = 0;

  [[nodiscard]] std::uint64_t position() const {
    return next == ready.size() ? state.position : advanced(state.position, 2 * next);
  }
  void move_to(std::uint64_t word) {
    state.position = word;
    next = ready.size();
  }
};

// NumPy calls this from C, where nothing may be thrown: the state was checked when it was set, and the draw is cut
// where the stream begins again.
void refill(BitStream& s) {
  const auto draw = [&](std::uint64_t position, std::size_t begin, std::size_t end) {
    rand::State state = s.state;
    state.position = position;
    rand::Generator g(state);
    rand::raw64(
        Executor::host(), g,
        View<std::uint64_t>(Executor::host(), s.ready.data() + begin, {static_cast<std::int64_t>(end - begin)}));
  };
  const std::size_t left =
      static_cast<std::size_t>(std::min<std::uint64_t>(kNumbers, (kPeriod - s.state.position) / 2));
  draw(s.state.position, 0, left);
  if (left < kNumbers) draw(0, left, kNumbers);
}

struct Bits {  // NumPy's bitgen_t
  void* state;
  std::uint64_t (*next_uint64)(void*);
  std::uint32_t (*next_uint32)(void*);
  double (*next_double)(void*);
  std::uint64_t (*next_raw)(void*);
};

std::uint64_t next64(void* p) {
  auto& s = *static_cast<BitStream*>(p);
  if (s.next == s.ready.size()) {
    refill(s);
    s.next = 0;
  }
  const std::uint64_t value = s.ready[s.next++];
  if (s.next == s.ready.size()) s.state.position = advanced(s.state.position, 2 * s.ready.size());
  return value;
}
std::uint32_t next32(void* p) {
  auto& s = *static_cast<BitStream*>(p);
  if (s.has_half) {
    s.has_half = false;
    return s.half;
  }
  const std::uint64_t value = next64(p);
  s.has_half = true;
  s.half = static_cast<std::uint32_t>(value >> 32);
  return static_cast<std::uint32_t>(value);
}
double next_double(void* p) { return static_cast<double>(next64(p) >> 11) * 0x1p-53; }

struct StreamObject {
  std::unique_ptr<BitStream> stream;
  std::unique_ptr<Bits> bits;
};

}  // namespace

void bind_bit_stream(nb::module_& m) {
  nb::class_<StreamObject>(m, "BitStream")
      .def("__init__",
           [](StreamObject* self, const std::string& algorithm, std::uint64_t seed, std::uint64_t stream) {
             rand::State state;
             state.algorithm = algorithm_named(algorithm);
             state.seed = seed;
             state.stream = stream;
             (void)rand::Generator(state);  // refuses what there is not
             auto bits = std::make_unique<BitStream>();
             bits->state = state;
             auto table = std::make_unique<Bits>(Bits{bits.get(), next64, next32, next_double, next64});
             new (self) StreamObject{std::move(bits), std::move(table)};
           })
      .def("capsule",
           [](nb::handle self) {
             // The stream lives as long as the object that NumPy's Generator holds; the capsule only points.
             return nb::steal(PyCapsule_New(nb::cast<StreamObject&>(self).bits.get(), "BitGenerator", nullptr));
           })
      .def("state",
           [](const StreamObject& o) {
             const BitStream& s = *o.stream;
             return nb::make_tuple(rand::name(s.state.algorithm), s.state.seed, s.state.stream, s.position(),
                                   static_cast<int>(s.has_half), s.half);
           })
      .def("set_state",
           [](StreamObject& o, std::uint64_t seed, std::uint64_t stream, std::uint64_t position, bool has_half,
              std::uint32_t half) {
             BitStream& s = *o.stream;
             require(position % 2 == 0 && position < kPeriod,
                     "rand: position {} of a bit generator; it must be even and below 2^64 - 2", position);
             rand::State state = s.state;
             state.seed = seed;
             state.stream = stream;
             (void)rand::Generator(state);  // refuses a stream that the algorithm does not have
             s.state = state;
             s.move_to(position);
             s.has_half = has_half;
             s.half = half;
           })
      .def("next", [](StreamObject& o) { return next64(o.stream.get()); })
      .def("skip", [](StreamObject& o, std::uint64_t numbers) {
        o.stream->move_to(advanced(o.stream->position(), 2 * (numbers % (kPeriod / 2))));
        o.stream->has_half = false;
      });
}

}  // namespace trn::python
