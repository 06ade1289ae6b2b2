// Published times of collective operations, and what tile::Fabric makes of them.
//
// NCCOM is the page of AWS's nccom-test. It holds samples of different years: the command `-r 32 allg` is there with
// 151 us and with 6.16 us for 1 KB. The older ones carry 58 us (2 ranks), 150 us (32 ranks) and 520 us (two instances)
// at any size, one of the newer ones 300 us; what these are is not said. Rows that such a constant decides do not count
// for the goal and are printed as outliers.
#include <trn/core/error.hpp>
#include <trn/neuron/validation.hpp>
#include <trn/tile/fabric.hpp>

namespace trn::neuron {

namespace {

using tile::CollectiveKind;
using tile::Members;

const char* const kNccom = "AWS Neuron SDK, nccom-test user guide";
const char* const kPantheon = "pantheongpu/pantheonneuron, nccom-test on one trn1 chip";
const char* const kOlder = "the older samples have a constant that the newer ones of the same page have not";
const char* const kSlow = "this sample has 300 us at any size; others of the page have 6 to 10";

struct Sweep {
  const char *what, *machine, *source;
  CollectiveKind kind;
  Members members;
  struct Point {
    double bytes, measured_us;
    RowKind row = RowKind::Predicted;
    const char* outlier = "";
  };
  std::vector<Point> points;
  const char* note;
};

constexpr auto kFitted = RowKind::Fitted, kPredicted = RowKind::Predicted;

std::vector<Sweep> sweeps() {
  using enum CollectiveKind;
  std::vector<Sweep> all;
  // Two cores of one chip.
  all.push_back({"2 ranks", "trn1", kPantheon, AllReduce, {2, 1, 1}, {}, ""});
  for (const auto& [bytes, us] : {std::pair{1048576., 23.5},
                                  {1782579., 37.25},
                                  {2516582., 50.48},
                                  {3250585., 64.17},
                                  {3984588., 77.85},
                                  {4718591., 91.5},
                                  {5452594., 105.03},
                                  {6186597., 118.6},
                                  {6920600., 132.12},
                                  {7654603., 145.57},
                                  {8388606., 160.}})
    all.back().points.push_back({bytes, us});
  all.push_back({"2 ranks, older", "trn1", kNccom, AllReduce, {2, 1, 1}, {}, "that it is a trn1 is inferred"});
  for (const auto& [bytes, us] : {std::pair{1024., 58.},
                                  {4096., 58.},
                                  {16384., 58.},
                                  {65536., 58.},
                                  {262144., 60.},
                                  {1048576., 68.},
                                  {4194304., 107.}})
    all.back().points.push_back({bytes, us, kPredicted, kOlder});
  for (const auto& [bytes, us] :
       {std::pair{16777216., 332.}, {33554432., 768.}, {67108864., 1214.}, {268435456., 4750.}, {1073741824., 18930.}})
    all.back().points.push_back({bytes, us});
  // The sizes of all_gather are those of the output.
  all.push_back({"32 ranks",
                 "trn1",
                 kNccom,
                 AllGather,
                 {2, 16, 1},
                 {{1024, 6.16, kFitted}, {8192, 6.48}, {65536, 8.17}, {524288, 23.16}},
                 "the machine is not named: a trn1 has 32 cores"});
  all.push_back({"32 ranks, older", "trn1", kNccom, AllGather, {2, 16, 1}, {}, ""});
  for (const auto& [bytes, us] : {std::pair{1024., 151.}, {8192., 149.}, {65536., 150.}, {524288., 179.}})
    all.back().points.push_back({bytes, us, kPredicted, kOlder});
  all.push_back({"8 ranks",
                 "trn2",
                 kNccom,
                 AllGather,
                 {.per_chip = 4, .chips = 2, .lnc = 2},
                 {{1024, 10.0, kFitted}, {8192, 10.22}, {65536, 11.31}, {524288, 14.83}},
                 "the machine is not named: taken as two trn2 chips with logical cores of two"});
  all.push_back({"4 ranks, all_gather_v",
                 "trn2",
                 kNccom,
                 AllGather,
                 {.per_chip = 4, .chips = 1, .lnc = 2},
                 {{2048, 16.28}},
                 "the ranks of one chip; counts differ"});
  all.push_back({"16 ranks",
                 "trn2",
                 kNccom,
                 AllReduce,
                 {.per_chip = 4, .chips = 4, .lnc = 2},
                 {{4, 299.91, kPredicted, kSlow},
                  {32, 299.69, kPredicted, kSlow},
                  {512, 299.82, kPredicted, kSlow},
                  {8192, 299.74, kPredicted, kSlow},
                  {131072, 574.15, kPredicted, kSlow},
                  {2097152, 686.32, kPredicted, kSlow},
                  {33554432, 2754.15, kPredicted, kSlow},
                  {536870912, 9689.51, kFitted}},
                 "decides eta; the machine is not named"});
  all.push_back({"64 ranks on 2 instances", "trn1", kNccom, AllReduce, {2, 16, 2}, {}, "32 ranks an instance: a trn1"});
  for (const auto& [bytes, us] :
       {std::pair{8., 520.}, {1024., 840.}, {65536., 1315.}, {1048576., 1328.}, {16777216., 2138.}, {67108864., 3963.}})
    all.back().points.push_back({bytes, us, kPredicted, kOlder});
  for (const auto& [bytes, us] :
       {std::pair{134217728., 6279.}, {268435456., 11954.}, {536870912., 21803.}, {1073741824., 41806.}})
    all.back().points.push_back({bytes, us});
  all.push_back({"2 ranks of 8 exchange",
                 "trn2",
                 kNccom,
                 SendReceive,
                 {.per_chip = 2, .chips = 1, .lnc = 2},
                 {{33554432, 894.24, kPredicted, "the machine is not named, nor whether ranks 0 and 1 share a chip"}},
                 "permute"});
  all.push_back({"2 ranks on 2 instances",
                 "trn1",
                 kNccom,
                 AllToAll,
                 {1, 1, 2},
                 {{1048608, 955.05, kPredicted, "between nodes; the constant of two instances is 520 us on this page"}},
                 "all_to_all_v"});
  return all;
}

std::string size_text(double bytes) {
  if (bytes >= 1 << 20) return fmt::format("{:.4g} MiB", bytes / (1 << 20));
  if (bytes >= 1024) return fmt::format("{:.4g} KiB", bytes / 1024);
  return fmt::format("{} B", bytes);
}

}  // namespace

std::vector<ValidationRow> validate_collectives() {
  std::vector<ValidationRow> table;
  for (const Sweep& s : sweeps()) {
    for (const Sweep::Point& p : s.points) {
      const double us = 1e6 * collective_cost(tile::fabric(s.machine), s.kind, p.bytes, s.members).seconds();
      const bool outlier = *p.outlier != 0;
      table.push_back({fmt::format("{}, {}, {}", name(s.kind), s.what, size_text(p.bytes)), s.machine, s.source,
                       Quantity::Latency, p.row, p.measured_us, us, 0, outlier ? p.outlier : s.note, !outlier});
    }
  }
  return table;
}

}  // namespace trn::neuron
