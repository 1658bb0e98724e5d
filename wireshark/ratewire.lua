-- Wireshark dissector for XCP, the congestion header between IP and the transport
-- (draft-falk-xcp-spec-00 to -03, section 3), in the layouts of drafts -00, -02 and -03.
--
--   tshark -X lua_script:wireshark/ratewire.lua -r capture.pcap -Y xcp
--
-- or copy this file into the personal Lua plugins folder (Help > About Wireshark > Folders).
-- The drafts assign no IP protocol number; the preference xcp.ip_protocol says which to read, 200
-- unless changed.
--
-- Capture whole packets: Lua cannot tell the next dissector that the capture cut a packet short, so
-- TCP takes the cut for the end of the data.
--
-- Headers are told apart, accepted and refused as by the crate ratewire-wire, with the same words;
-- its test "dissector" holds the two against each other.

local HEADER_LEN = 20
local DEFAULT_IP_PROTOCOL = 200

local xcp = Proto("xcp", "eXplicit Control Protocol")

local formats = { [1] = "Standard", [2] = "Minimal" }

local f = {
  version = ProtoField.uint8("xcp.version", "Version"),
  format = ProtoField.uint8("xcp.format", "Format", base.DEC, formats),
  length = ProtoField.uint8("xcp.length", "Length", base.UNIT_STRING, { " byte", " bytes" }),
  protocol = ProtoField.uint8("xcp.protocol", "Protocol"),
  unused = ProtoField.uint8("xcp.unused", "Unused", base.HEX),
  rtt = ProtoField.double("xcp.rtt", "RTT (s)", "Round-trip time of the sender; 0 = unknown"),
  x = ProtoField.double("xcp.x", "X (s)", "Time between the sender's packets; 0 = unknown"),
  throughput = ProtoField.uint64("xcp.throughput", "Throughput (B/s)", base.DEC, nil, nil,
    "Throughput of the sender, in steps of 1000 B/s; draft -00 only; 0 = unknown"),
  reverse_feedback = ProtoField.int32("xcp.reverse_feedback", "Reverse_Feedback (B/s)", base.DEC,
    nil, nil, "The Delta_Throughput that arrived at the receiver"),
  delta_throughput = ProtoField.int32("xcp.delta_throughput", "Delta_Throughput (B/s)", base.DEC,
    nil, nil, "Change of throughput: the sender's wish, or what routers left of it"),
}
xcp.fields = f

local malformed = ProtoExpert.new("xcp.malformed", "Malformed XCP header",
  expert.group.MALFORMED, expert.severity.ERROR)
xcp.experts = { malformed }

xcp.prefs.ip_protocol = Pref.uint("IP protocol number", DEFAULT_IP_PROTOCOL,
  "The IP protocol number of XCP, 1 to 255; no number is assigned to it")

-- Byte offsets of the fields. `kind` holds Version and Format; `pace` is X, or Throughput in -00.
local LAYOUTS = {
  [1] = { kind = 0, protocol = 1, length = 2, rtt = 4, pace = 8, delta = 12, reverse = 16 },
  [2] = { protocol = 0, length = 1, kind = 2, rtt = 4, pace = 8, delta = 12, reverse = 16 },
  [3] = { protocol = 0, length = 1, kind = 2, pace = 4, rtt = 8, reverse = 12, delta = 16 },
}

local function high(byte) return math.floor(byte / 16) end
local function low(byte) return byte % 16 end

-- Whether a byte holds a Version and Format that exist in drafts -01 to -03.
local function known_later_kind(byte)
  local version, format = high(byte), low(byte)
  return (version == 2 or version == 3) and (format == 1 or format == 2)
end

-- Whether the first three bytes come closer to draft -00 than to the later ones: the Length that is
-- right decides, then a known Version and Format.
local function looks_like_v00(first, second, third)
  local length_later, length_v00 = second == HEADER_LEN, third == HEADER_LEN
  if length_later ~= length_v00 then return length_v00 end
  if length_v00 then return high(first) == 1 end
  return (first == 0x11 or first == 0x12) and not known_later_kind(third)
end

-- The layout the header comes closest to, and why it is not valid, or nil.
local function check(tvb)
  local v00 = looks_like_v00(tvb(0, 1):uint(), tvb(1, 1):uint(), tvb(2, 1):uint())
  local at = v00 and LAYOUTS[1] or LAYOUTS[3]
  local kind, length = tvb(at.kind, 1):uint(), tvb(at.length, 1):uint()
  local version, format, unused = high(kind), low(kind), tvb(3, 1):uint()
  if length ~= HEADER_LEN then
    return at, string.format("XCP Length: found %d, allowed %d", length, HEADER_LEN)
  end
  local known = v00 and version == 1 or not v00 and (version == 2 or version == 3)
  if not known then
    return at, string.format("XCP Version: found %d at bit %d, allowed 1 at bit 0 (draft -00), "
      .. "2 at bit 16 (drafts -01 and -02) or 3 at bit 16 (draft -03)", version, v00 and 0 or 16)
  end
  at = LAYOUTS[version]
  if not formats[format] then
    return at,
      string.format("XCP Format: found %d, allowed 1 (standard) or 2 (minimal)", format)
  end
  if unused ~= 0 then
    return at, string.format("XCP unused bits: found 0x%02x, allowed 0x00", unused)
  end
  return at, nil
end

local function add_word0(tree, tvb, at)
  local kind = tvb(at.kind, 1)
  tree:add(f.version, kind, high(kind:uint()))
  tree:add(f.format, kind, low(kind:uint()))
  tree:add(f.protocol, tvb(at.protocol, 1))
  tree:add(f.length, tvb(at.length, 1))
  tree:add(f.unused, tvb(3, 1))
end

local function add_values(tree, tvb, at)
  local rtt, pace = tvb(at.rtt, 4), tvb(at.pace, 4)
  if at == LAYOUTS[1] then
    tree:add(f.rtt, rtt, rtt:uint() / 1000)
    tree:add(f.throughput, pace, UInt64(pace:uint()) * UInt64(1000))
  else
    tree:add(f.rtt, rtt, rtt:uint() / 2 ^ 28)
    tree:add(f.x, pace, pace:uint() / 2 ^ 28)
  end
  tree:add(f.reverse_feedback, tvb(at.reverse, 4))
  tree:add(f.delta_throughput, tvb(at.delta, 4))
end

local data = Dissector.get("data")
local ip_protocols = DissectorTable.get("ip.proto")

-- Hands what follows the header to the dissector of `protocol`, or shows it as data.
local function dissect_rest(protocol, tvb, pinfo, root)
  if tvb:len() == HEADER_LEN then return end
  -- No packet has two XCP headers in a row: a tunnel puts an IP header between them. Following one
  -- made to have thousands would exhaust the stack.
  local follow = protocol and protocol ~= xcp.prefs.ip_protocol
  local inner = follow and ip_protocols:get_dissector(protocol) or data
  inner:call(tvb(HEADER_LEN):tvb(), pinfo, root)
end

local function refuse(tree, pinfo, reason)
  tree:add_proto_expert_info(malformed, reason)
  pinfo.cols.info = reason
end

function xcp.dissector(tvb, pinfo, root)
  local length = tvb:reported_length_remaining()
  local cut = tvb:len() < length and " [cut short by the capture]" or ""
  pinfo.cols.protocol = "XCP"
  if tvb:len() < HEADER_LEN then
    local tree = root:add(xcp, tvb())
    tree:append_text(cut)
    -- A header that only the capture cut short is whole on the network.
    if length < HEADER_LEN then
      refuse(tree, pinfo, string.format(
        "XCP header: found %d bytes, allowed %d or more", length, HEADER_LEN))
    end
    return tvb:len()
  end

  local tree = root:add(xcp, tvb(0, HEADER_LEN))
  local at, reason = check(tvb)
  add_word0(tree, tvb, at)
  if reason then
    refuse(tree, pinfo, reason)
    dissect_rest(nil, tvb, pinfo, root)
    return tvb:len()
  end
  add_values(tree, tvb, at)
  local delta, reverse = tvb(at.delta, 4):int(), tvb(at.reverse, 4):int()
  local summary = string.format("Delta %d B/s, Reverse %d B/s", delta, reverse)
  tree:append_text(", " .. summary .. cut)
  pinfo.cols.info = summary
  dissect_rest(tvb(at.protocol, 1):uint(), tvb, pinfo, root)
  return tvb:len()
end

local registered
local function register()
  if registered then ip_protocols:remove(registered, xcp) end
  registered = xcp.prefs.ip_protocol
  ip_protocols:add(registered, xcp)
end

xcp.prefs_changed = register
register()
