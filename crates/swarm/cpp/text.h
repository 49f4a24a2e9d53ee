// Conversions of text between Rust, C++ and libtorrent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <libtorrent/error_code.hpp>
#include <libtorrent/socket.hpp>
#include <libtorrent/torrent_handle.hpp>

#include "rust/cxx.h"

namespace hashlane {

inline std::string to_std(rust::String const& string) { return {string.data(), string.size()}; }

// Texts of trackers and peers can contain any bytes.
inline rust::String to_rust(std::string const& bytes) { return rust::String::lossy(bytes); }

// The text of an error. For a torrent that is present already, it is what a person can do.
std::string describe(lt::error_code const& error);

// Reads `host:port` or `[host]:port`.
lt::tcp::endpoint parse_endpoint(std::string const& peer);

std::string format_endpoint(lt::tcp::endpoint const& endpoint);

// The info dictionary; empty if it is not known yet.
rust::Vec<std::uint8_t> info_dictionary(lt::torrent_handle const& handle);

} // namespace hashlane
