// Warnings about fallbacks and mispredictions, for Summary::note and Report::note.
#pragma once

#include <string>

namespace xorder::work {

/// Appends a note to others, unless it is empty or among them.
inline void add_note(std::string& notes, const std::string& note) {
  if (note.empty() || notes.find(note) != std::string::npos) return;
  notes += (notes.empty() ? "" : "; ") + note;
}

}  // namespace xorder::work
