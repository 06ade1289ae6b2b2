// Place: where this rank stands in a grid, and the groups of its row and of its column.
#pragma once

#include <trn/comm/communicator.hpp>
#include <trn/comm/distribution.hpp>

namespace trn::dist {

struct Place {
  // Collective over the group. Ranks outside the grid are in groups of their own and have row and column -1.
  Place(const comm::Communicator& group, const Grid& whole)
      : grid(whole),
        inside(group.rank() < whole.size()),
        row(inside ? whole.row_of(group.rank()) : -1),
        column(inside ? whole.column_of(group.rank()) : -1),
        along_row(group.split(inside ? row : whole.rows, column)),
        along_column(group.split(inside ? column : whole.columns, row)) {}

  Grid grid;
  bool inside;
  int row, column;
  comm::Communicator along_row;     // the ranks of this row: rank in it = column of the grid
  comm::Communicator along_column;  // the ranks of this column: rank in it = row of the grid
};

}  // namespace trn::dist
