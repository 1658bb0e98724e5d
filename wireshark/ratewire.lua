-- Wireshark dissectors for congestion headers between IP and the transport: XCP's
-- (draft-falk-xcp-spec-00 to -03, section 3), in the layouts of drafts -00, -02 and -03, and, at the end of
-- this file, those of the other laws in Ratewire's captures; and in TCP's options, where `ratewire live` has them.
--
--   tshark -X lua_script:wireshark/ratewire.lua -r capture.pcap -Y xcp
--   tshark -X lua_script:wireshark/ratewire.lua -r capture.pcap -Y 'ratewire.law == "jetmax"'
--   tshark -X lua_script:wireshark/ratewire.lua -i eth1 -Y ratewire
--
-- docs/reference/wireshark.md lists the fields.
--
-- or copy this file into the personal Lua plugins folder (Help > About Wireshark > Folders).
-- The drafts assign no IP protocol number; the preference xcp.ip_protocol says which to read, 200
-- unless changed.
--
-- Lua cannot tell the next dissector that the capture cut a packet short. TCP is shown a copy as long as the
-- segment was on the network, with zeros for the payload that is not there: its length, its sequence numbers and
-- their analysis are right, and so is its checksum where the payload was zeros, as in Ratewire's captures.
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

local TCP, TCP_LEN = 6, 20

-- What follows a header of `length` bytes. Of TCP the missing payload is made up for, if its header is whole.
local function rest(protocol, tvb, length)
  local missing = tvb:reported_length_remaining() - tvb:len()
  if protocol ~= TCP or missing <= 0 or tvb:len() < length + TCP_LEN
    or tvb:len() < length + 4 * high(tvb(length + 12, 1):uint()) then
    return tvb(length):tvb()
  end
  local bytes = tvb(length):bytes()
  bytes:set_size(bytes:len() + missing)
  return bytes:tvb("TCP, zeros for what the capture left out")
end

-- Hands what follows the header to the dissector of `protocol`, or shows it as data.
local function dissect_rest(protocol, tvb, pinfo, root)
  if tvb:len() == HEADER_LEN then return end
  -- No packet has two XCP headers in a row: a tunnel puts an IP header between them. Following one
  -- made to have thousands would exhaust the stack.
  local follow = protocol and protocol ~= xcp.prefs.ip_protocol
  local inner = follow and ip_protocols:get_dissector(protocol) or data
  inner:call(rest(protocol, tvb, HEADER_LEN), pinfo, root)
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
  local protocol = tvb(at.protocol, 1):uint()
  dissect_rest(protocol, tvb, pinfo, root)
  -- Who follows writes a summary of its own.
  if protocol == TCP and tvb:len() > HEADER_LEN then pinfo.cols.info:prepend("xcp, " .. summary .. "; ") end
  return tvb:len()
end

-- The headers of other laws, under the IP protocol for experiments. crates/laws has each in its `header.rs`;
-- the test "tshark" of the crate ratewire-capture holds the two against each other. A header says only in part
-- whose it is: where bytes leave it open, the transport that must follow decides, as Ratewire writes it (TCP
-- between dynamic ports). The preference ratewire.law says it instead.

local EXPERIMENT = 253
local FIRST_PORT = 49152

local laws = Proto("ratewire", "Congestion header of a law")

local values = {}
local function value(law, name, kind, label)
  local field = kind("ratewire." .. law .. "." .. name, label or name)
  table.insert(values, field)
  return field
end
local function double(law, name, label) return value(law, name, ProtoField.double, label) end
local function whole(law, name, label) return value(law, name, ProtoField.uint32, label) end

local law_name = ProtoField.string("ratewire.law", "Law")
local returned = ProtoField.bool("ratewire.returned", "On its way back")
local offered = ProtoField.bool("ratewire.offered", "Offered in a handshake")
values = { law_name, returned, offered }

-- Reads a binary32, or a whole number of `size` bytes, at `at`.
local function real(at) return function(tvb) return tvb(at, 4), tvb(at, 4):float() end end
local function uint(at, size, unit)
  return function(tvb) return tvb(at, size), tvb(at, size):uint() * (unit or 1) end
end
local function int(at, size, unit)
  return function(tvb) return tvb(at, size), tvb(at, size):int() * (unit or 1) end
end

-- Whether the first byte is that of a header that returns, 2, or of one that does not, 1.
local function way(tvb)
  local first = tvb(0, 1):uint()
  if first == 1 or first == 2 then return first == 2 end
end

-- Draft -03's shell with formats of its own: one on the way there, one back.
local function shell(there, back)
  return function(tvb)
    local kind = tvb(2, 1):uint()
    if tvb(1, 1):uint() ~= 20 or high(kind) ~= 3 then return end
    if low(kind) == there or low(kind) == back then return low(kind) == back end
  end
end

-- Kind, length and identifier; in a handshake there is no more.
local OPTION_FIXED = 4

local function is_option_of(law, tvb)
  return tvb(0, 1):uint() == 254 and tvb(2, 2):uint() == law.identifier
end

-- An option of the kernel's laws: it is shorter on acknowledgements.
local function option(tvb, law)
  if not is_option_of(law, tvb) then return end
  local found = tvb(1, 1):uint()
  if found == law.back or found == law.length then return found == law.back end
end

local SPEEDS = { 1e5, 1e6, 1e7, 1e8, 1e9, 2.5e9, 5e9, 1e10, 2.5e10, 4e10, 5e10, 1e11, 2e11, 4e11, 8e11, 1.6e12 }
local STAMP = {
  b = double("hpcc", "b", "B (B/s)"),
  ts = double("hpcc", "ts", "TS (s)"),
  tx = double("hpcc", "tx_bytes", "txBytes"),
  queue = double("hpcc", "q_len", "qLen (bytes)"),
}

local function add_stamps(tree, tvb)
  for place = 0, math.min(high(tvb(0, 1):uint()), 5) - 1 do
    local at = 2 + 8 * place
    local speed = SPEEDS[high(tvb(at, 1):uint()) + 1]
    local stamp = tree:add(tvb(at, 8), "Stamp at place " .. place)
    stamp:add(STAMP.b, tvb(at, 1), speed / 8)
    stamp:add(STAMP.ts, tvb(at, 4), tvb(at, 4):bitfield(4, 24) * math.max(1e-9, 25 / speed))
    stamp:add(STAMP.tx, tvb(at + 3, 3), tvb(at + 3, 3):bitfield(4, 20) * 128)
    stamp:add(STAMP.queue, tvb(at + 6, 2), tvb(at + 6, 2):uint() * 80)
  end
end

local function bits(at, first, count)
  return function(tvb) return tvb(at, 2), tvb(at, 2):bitfield(first, count) end
end

local function rcp(name)
  return {
    { double(name, "rate", "Rate (B/s)"), uint(4, 4, 64), "Rate %.0f B/s" },
    { double(name, "rtt", "RTT (s)"), uint(8, 4, 2 ^ -28) },
    { double(name, "reverse_rate", "Reverse_Rate (B/s)"), uint(12, 4, 64), "Reverse %.0f B/s" },
  }
end

-- A number with 5 bits of exponent before so many of mantissa (bpf/laws/option.h); all ones for unknown.
local function short(at, size, mantissa, unit)
  return function(tvb)
    local range = tvb(at, size)
    local exponent, rest = range:bitfield(0, 5), range:bitfield(5, mantissa)
    if exponent == 31 and rest == 2 ^ mantissa - 1 then return range end
    return range, rest * 2 ^ exponent * (unit or 1)
  end
end
-- What JetMax's receiver returns, which lies elsewhere on an acknowledgement that has nothing else.
local RETURNED = {
  router = whole("jetmax_kernel", "returned_router"),
  marker = whole("jetmax_kernel", "returned_marker"),
  number = whole("jetmax_kernel", "returned_number"),
  fair = double("jetmax_kernel", "returned_fair", "returned_fair (B/s)"),
}

-- An option's last word is what the receiver returns.
local function last(law) return double(law, "returned", "Returned (units of the law)") end

-- Each law: how long its header is, whether it is one (and on its way back), and what is in it, some of it for the
-- Info column too. Those that bytes tell apart come first. One with an `identifier` is a TCP option.
local LAWS = {
  { name = "rcp", length = 20, way = shell(3, 4), fields = rcp("rcp") },
  { name = "piqi-rcp", length = 20, way = shell(5, 6), fields = rcp("piqi_rcp") },
  { name = "xcp@kernel", identifier = 0x5278, length = 20, back = 8, way = option,
    last = last("xcp_kernel"), fields = {
    { double("xcp_kernel", "rate", "Rate (B/s)"), uint(4, 4, 16), "Rate %.0f B/s" },
    { double("xcp_kernel", "rtt", "RTT (s)"), uint(8, 4, 1e-6) },
    { double("xcp_kernel", "change", "Change (B/s a second)"), int(12, 4, 1024), "Change %.0f B/s a second" },
  } },
  { name = "rcp@kernel", identifier = 0x5272, length = 16, back = 8, way = option,
    last = last("rcp_kernel"), fields = {
    { double("rcp_kernel", "rate", "Rate (B/s)"), uint(4, 4, 16), "Rate %.0f B/s" },
    { double("rcp_kernel", "rtt", "RTT (s)"), uint(8, 4, 1e-6) },
  } },
  { name = "jetmax@kernel", identifier = 0x526a, length = 28, back = 12, way = option, fields = {
    { whole("jetmax_kernel", "bottleneck"), uint(4, 2) },
    { whole("jetmax_kernel", "proposed"), uint(6, 2) },
    { whole("jetmax_kernel", "number"), uint(8, 1) },
    { double("jetmax_kernel", "fair", "fair (B/s)"), short(9, 3, 19), "Fair %.0f B/s" },
    { whole("jetmax_kernel", "marker"), uint(12, 1) },
    { double("jetmax_kernel", "proposed_fair", "proposed_fair (B/s)"), short(13, 3, 19) },
    { double("jetmax_kernel", "load"), short(16, 2, 11, 2 ^ -26) },
    { RETURNED.router, uint(18, 2) },
    { RETURNED.number, uint(20, 1) },
    { RETURNED.fair, short(21, 3, 19) },
    { RETURNED.marker, uint(24, 1) },
    { double("jetmax_kernel", "rate", "rate (B/s)"), short(25, 3, 19) },
  }, answer = {
    { RETURNED.router, uint(4, 2) },
    { RETURNED.marker, uint(7, 1) },
    { RETURNED.number, uint(8, 1) },
    { RETURNED.fair, short(9, 3, 19), "Returned %.0f B/s" },
  } },
  { name = "jetmax", length = 28, way = way, fields = {
    { whole("jetmax", "marker"), uint(1, 1) },
    { whole("jetmax", "number"), uint(2, 2) },
    { whole("jetmax", "bottleneck"), uint(4, 4) },
    { whole("jetmax", "proposed"), uint(8, 4) },
    { double("jetmax", "gap", "gap (s)"), real(12) },
    { double("jetmax", "loss"), real(16) },
    { double("jetmax", "fair", "fair (B/s)"), real(20), "Fair %.0f B/s" },
    { double("jetmax", "proposed_fair", "proposed_fair (B/s)"), real(24) },
  } },
  { name = "emkc", length = 12, way = way, fields = {
    { whole("emkc", "marker"), uint(1, 1) },
    { whole("emkc", "number"), uint(2, 2) },
    { whole("emkc", "router"), uint(4, 4) },
    { double("emkc", "loss"), real(8), "Loss %.4g" },
  } },
  { name = "maxnet", length = 8, way = way, fields = { { double("maxnet", "price"), real(4), "Price %.4g" } } },
  { name = "hpcc", length = 42, way = function(tvb) return tvb(0, 2):bitfield(4, 1) == 1 end,
    more = add_stamps, fields = {
    { whole("hpcc", "n_hop", "nHop"), bits(0, 0, 4), "%d hops" },
    { whole("hpcc", "path_id", "pathID"), bits(0, 5, 11) },
  } },
}

laws.fields = values
local not_known = ProtoExpert.new("ratewire.unknown", "Congestion header of no known law",
  expert.group.UNDECODED, expert.severity.NOTE)
laws.experts = { not_known }

local choices = { { 1, "by what is in the packet", 0 } }
for i, law in ipairs(LAWS) do table.insert(choices, { i + 1, law.name, i }) end
laws.prefs.ip_protocol = Pref.uint("IP protocol number", EXPERIMENT,
  "The IP protocol number of Ratewire's congestion headers, 1 to 255")
laws.prefs.law = Pref.enum("Law", 0, "Whose headers they are", choices, false)

-- Whether TCP as Ratewire writes it begins there.
local function is_followed(tvb, at)
  if tvb:len() < at + TCP_LEN then return false end
  local from, to, offset = tvb(at, 2):uint(), tvb(at + 2, 2):uint(), tvb(at + 12, 1):uint()
  return from >= FIRST_PORT and to >= FIRST_PORT and high(offset) >= 5 and low(offset) == 0
end

-- The law whose header it is, whether it is on its way back, and how long it is.
local function find(tvb)
  for i, law in ipairs(LAWS) do
    local asked = laws.prefs.law == i
    if (laws.prefs.law == 0 or asked) and tvb:len() >= (law.back or law.length) then
      local back = law.way(tvb, law)
      local length = back and law.back or law.length
      if back ~= nil and tvb:len() >= length and (asked or is_followed(tvb, length)) then
        return law, back, length
      end
    end
  end
end

-- Shows a law's header; returns what to say of it in the Info column.
local function show(law, back, header, root)
  local tree = root:add(laws, header())
  local summary = law.name
  tree:append_text(", " .. law.name .. (back and ", on its way back" or ""))
  tree:add(law_name, header(), law.name)
  tree:add(returned, header(), back)
  for _, entry in ipairs(back and law.back and (law.answer or {}) or law.fields) do
    local range, read = entry[2](header)
    if read then
      tree:add(entry[1], range, read)
      if entry[3] then summary = summary .. ", " .. string.format(entry[3], read) end
    end
  end
  if law.last then
    local range = header(header:len() - 4, 4)
    tree:add(law.last, range, range:int())
    if back then summary = summary .. string.format(", Returned %d", range:int()) end
  end
  if law.more then law.more(tree, header) end
  return summary
end

function laws.dissector(tvb, pinfo, root)
  pinfo.cols.protocol = "Congestion"
  local law, back, length = find(tvb)
  if not law then
    root:add(laws, tvb()):add_proto_expert_info(not_known)
    return tvb:len()
  end
  local summary = show(law, back, tvb(0, length):tvb(), root)
  if tvb:len() > length then
    ip_protocols:get_dissector(TCP):call(rest(TCP, tvb, length), pinfo, root)
    pinfo.cols.info:prepend(summary .. "; ")
  end
  return tvb:len()
end

-- In real packets the kernel's laws have their headers in TCP's options. They are looked for when all else is done: who
-- takes kind 254 from Wireshark's own dissector takes the other experiments from it too.
local on_tcp = Proto("ratewire_option", "Congestion header of a law, as a TCP option")
local tcp_options = Field.new("tcp.options")
local END, PADDING = 0, 1

-- Shows an option if it is a law's; returns what to say of it.
local function show_option(tvb, root)
  for _, law in ipairs(LAWS) do
    if law.identifier and is_option_of(law, tvb) then
      local back = option(tvb, law)
      if back ~= nil then return show(law, back, tvb, root) end
      if tvb:len() == OPTION_FIXED then
        local tree = root:add(laws, tvb())
        tree:append_text(", " .. law.name .. ", offered")
        tree:add(law_name, tvb(), law.name)
        tree:add(offered, tvb(), true)
        return law.name .. ", offered"
      end
    end
  end
end

function on_tcp.dissector(_, pinfo, root)
  for _, found in ipairs({ tcp_options() }) do
    local options, at = found.range:tvb(), 0
    while at + OPTION_FIXED <= options:len() do
      local kind, length = options(at, 1):uint(), options(at + 1, 1):uint()
      if kind == END or kind ~= PADDING and (length < 2 or at + length > options:len()) then break end
      if kind == PADDING then length = 1 end
      local summary = length >= OPTION_FIXED and show_option(options(at, length):tvb(), root)
      if summary then pinfo.cols.info:prepend(summary .. "; ") end
      at = at + length
    end
  end
end
register_postdissector(on_tcp)

-- Which of the two reads an IP protocol number. Both asked to read the same one, it is XCP's: its number is 200
-- unless somebody says otherwise, that of the other laws is theirs by default.
local readers = {}
local function register()
  for number, reader in pairs(readers) do ip_protocols:remove(number, reader) end
  readers = { [laws.prefs.ip_protocol] = laws }
  readers[xcp.prefs.ip_protocol] = xcp
  for number, reader in pairs(readers) do ip_protocols:add(number, reader) end
end

xcp.prefs_changed = register
laws.prefs_changed = register
register()
