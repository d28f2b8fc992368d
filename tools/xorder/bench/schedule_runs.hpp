// Schedules as they run on this computer: messages in memory, and files.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "bench/results.hpp"
#include "bench/rounds.hpp"
#include "bench/test_matrix.hpp"

namespace xorder::cli {

/// Adds figures of what a message costs in the machine of virtual processors, and their cases.
void add_runs_in_memory(Results& results, std::vector<Case>& cases, bool full, const std::stop_token& stop);
/// Adds a table of what these figures come to.
void conclude_runs_in_memory(Results& results);

/// Adds figures of a file that is transposed and bit-reversed by tiles and by schedules, and their cases.
/// Throws InputError if there is not enough room.
void add_runs_on_files(Results& results, std::vector<Case>& cases, std::shared_ptr<const TestMatrix> matrix,
                       bool full);

}  // namespace xorder::cli
