// The number of a torrent as libtorrent keeps it for the session.
#pragma once

#include <cstdint>

#include <libtorrent/client_data.hpp>

namespace hashlane {

// libtorrent keeps a typed pointer with each torrent, and its alerts can have it long after the torrent was removed. So the
// number itself takes the place of the address, and nothing has to live as long as the pointer. It is never followed.
struct TorrentNumber;

inline lt::client_data_t to_user_data(std::uint32_t number)
{
    return lt::client_data_t(reinterpret_cast<TorrentNumber*>(static_cast<std::uintptr_t>(number)));
}

// Returns 0 if there is no torrent.
inline std::uint32_t number_of(lt::client_data_t const& data)
{
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(data.get<TorrentNumber>()));
}

} // namespace hashlane
