// RaceCheck: finds parallel iterations that depend on each other. A Parallel loop promises that its iterations may run
// in any order; two different iterations of one execution of it that touch the same element, one of them writing, break
// the promise. Elements of a tile that is allocated inside the loop are private to an iteration: every Alloc starts
// anew.
//
// Every element keeps the iteration (a node in the tree of loop iterations) of its last write and of its last read. Two
// touches conflict when the outermost loop in which their iterations differ is Parallel. In program order one stamp of
// each kind is enough: a write that does not conflict hides everything before it, and of the reads since then only the
// last is kept, with a mask of the loop depths at which earlier reads lay in other iterations of a Parallel loop.
#pragma once

#include <array>
#include <cstdint>
#include <trn/tile/walk.hpp>
#include <unordered_map>
#include <vector>

#include "sim/operand.hpp"

namespace trn::neuron::sim {

// By instruction: the loops around it, outermost first.
using LoopNests = std::vector<std::vector<std::int32_t>>;
[[nodiscard]] LoopNests loop_nests(const tile::Program& program);

class RaceCheck {
 public:
  RaceCheck(const tile::Program& program, const LoopNests& nests, const Memory& memory);

  // Throws DeviceError "hazard-without-edge" when this touch conflicts with an earlier one.
  void read(const Operand& o, std::int32_t instruction, const tile::Point& point);
  void write(const Operand& o, std::int64_t begin, std::int64_t n, std::int32_t instruction, const tile::Point& point);
  // The accumulators of the Scalar or the Vector Engine. An iteration of a parallel loop may begin sums where another
  // left its own, but not take those up.
  void sums(const tile::RegisterUse& use, std::int32_t instruction, const tile::Point& point);

 private:
  struct Stamp {
    std::int32_t write_node = -1, read_node = -1;  // -1: none
    std::int32_t write_instruction = -1, read_instruction = -1;
    std::uint32_t read_depths = 0;
  };
  // One iteration of one loop inside an iteration of the loop around it. Node 0 is the program.
  struct Node {
    std::int32_t parent, loop, depth;
    std::int64_t iteration;
  };
  struct Difference {
    // Of the outermost loop in which two nodes differ; 32 when they are ordered by the program alone.
    std::int32_t depth;
    bool parallel;
  };
  struct Region {  // a tile buffer, or HBM tensors whose memory overlaps
    std::int64_t element_bytes = 1;
    std::int64_t instance = -1;
    std::vector<Stamp> stamps;
  };
  struct NodeKey {
    std::int32_t parent, loop;
    std::int64_t iteration;
    bool operator==(const NodeKey&) const = default;
  };
  struct NodeHash {
    std::size_t operator()(const NodeKey& k) const;
  };

  void map_tensors(const Memory& memory);
  std::int32_t node_of(std::int32_t instruction, const tile::Point& point);
  [[nodiscard]] Difference difference(std::int32_t a, std::int32_t b);
  template <class F> void for_each_stamp(const Operand& o, std::int64_t begin, std::int64_t n, F f);
  [[nodiscard]] std::string place(std::int32_t node) const;
  [[noreturn]] void report(const Operand& o, std::int32_t earlier, std::int32_t earlier_node, std::int32_t now,
                           std::int32_t now_node, const char* kind) const;
  Region& region_of(const Operand& o, std::int64_t& first_byte);

  const tile::Program& program_;
  const LoopNests& nests_;
  std::vector<Node> nodes_;
  std::unordered_map<NodeKey, std::int32_t, NodeHash> node_ids_;
  std::vector<std::vector<Region>> tiles_;  // by tile, by buffer
  std::vector<Region> hbm_;
  std::vector<std::int32_t> hbm_of_tensor_;
  std::vector<std::int64_t> first_byte_of_tensor_;  // of element (0, 0, ...) in its region
  std::array<std::vector<Stamp>, 2> sums_;          // Scalar, Vector: by partition
  // The last pair of nodes compared: neighbouring elements mostly have the same history.
  std::int32_t last_a_ = -1, last_b_ = -1;
  Difference last_difference_{};
};

}  // namespace trn::neuron::sim
