// The papers' laboratory, beside xorder.hpp: schedules of messages between virtual processors, your own ones
// included, and computations on files that are made of them.
//
//   schedule      Schedule, for your own ones; Listed: one from a file; Routed: one for any task, by search;
//                 check(): whether one is correct, and what it costs
//   machine       Machine: runs a schedule on your data; scheduled(): reorders a file by one; RoundPlan: a
//                 permutation in rounds, factored once, performed on any number of files and arrays
//   drawing       draw(): a schedule or a map as a picture
//   descend       computations that combine elements 2^b apart, in memory and from files to a file
//   band          the transposition of banded matrices in band storage
#pragma once

#include "xorder/band/transposition.hpp"
#include "xorder/descend/computations.hpp"
#include "xorder/descend/job.hpp"
#include "xorder/drawing/draw.hpp"
#include "xorder/machine/machine.hpp"
#include "xorder/machine/round_plan.hpp"
#include "xorder/machine/scheduled.hpp"
#include "xorder/machine/scheduled_descend.hpp"
#include "xorder/schedule/check.hpp"
#include "xorder/schedule/listed.hpp"
#include "xorder/schedule/routed.hpp"
#include "xorder/xorder.hpp"
