// The interface for programs that use xorder. External code should include only this file.
//
//   permutation   what is to be done: transposition(), mapping_of_all(), parse_expression(), bmmc::gray() ...
//   io            open_array(): what a file holds
//   tiles::Job, band::BandTransposition, descend::DescendJob, machine::scheduled(): from file to file.
//                 Each is a work::Work: summary() and describe() say what it will do, run() does it.
//   memory        permute(): the same for an array in memory
//   machine       RoundPlan: a permutation in rounds, factored once, performed on any number of files and
//                 arrays; Machine: runs a schedule, including one of your own, on your data
//   schedule      Schedule, for your own ones; check(): whether one is correct, and what it costs
//
// Errors are exceptions (error.hpp). The library prints nothing and never aborts. Objects may be used by one
// thread at a time unless their headers say otherwise.
#pragma once

#include "xorder/band/transposition.hpp"
#include "xorder/descend/computations.hpp"
#include "xorder/descend/job.hpp"
#include "xorder/error.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/io/array_view.hpp"
#include "xorder/machine/machine.hpp"
#include "xorder/machine/round_plan.hpp"
#include "xorder/machine/scheduled.hpp"
#include "xorder/machine/scheduled_descend.hpp"
#include "xorder/memory/permute.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/permutation/expression.hpp"
#include "xorder/schedule/check.hpp"
#include "xorder/tiles/job.hpp"
