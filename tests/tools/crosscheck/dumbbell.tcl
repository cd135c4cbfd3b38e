# One dumbbell in ns-2.35, the counterpart of the ecnlab scenarios in this folder.
#
#   source[i] --access-- R1 ==bottleneck (queue under test, R1 to R2 only)== R2 --exit-- sink[i]
#
#   ns dumbbell.tcl [-key value]...     prints one JSON object
#
# Every counter covers [warmup, end].  Queue lengths do not count the packet in transmission.

array set P {
  seed 1  end 100  warmup 20
  rate 10e6  delay 0.016  queue DropTail  limit 50
  min_th 5  max_th 15  weight 0.002  max_p 0.1  gentle 1  wait 1  bytes 0  queue_in_bytes 0  mean_packet 0
  setbit 1  mark_p 0
  access_rate 100e6  access_delay 0.001  access_spread 0  exit_rate 100e6  exit_delay 0.001
  hosts 0  shared_source 0  nonbottleneck_limit 5000
  background 0  plain 0  ecn 0  start 0  spread 1  background_start 0  background_spread 1
  tcp Reno  segment 1000  window 64  tick 0.01  min_rto 0.2  initial_rto 3  max_rto 60  precise_halves 1
  monitor 1  sample 0.01  drop {}  mark {}  packets {}
}
if {[llength $argv] % 2} { puts stderr "arguments come in pairs: -key value"; exit 2 }
foreach {key value} $argv {
  set key [string trimleft $key -]
  if {![info exists P($key)]} { puts stderr "unknown option -$key; known: [lsort [array names P]]"; exit 2 }
  set P($key) $value
}
set wire [expr {$P(segment) + 40}]
if {$P(mean_packet) == 0} { set P(mean_packet) $wire }

# ---------------------------------------------------------------- simulator and defaults
remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
ns-random $P(seed)
set draws [new RNG]
for {set i 1} {$i < $P(seed)} {incr i} { $draws next-substream }
proc uniform {width} { global draws; return [expr {$width > 0 ? [$draws uniform 0 $width] : 0}] }
proc boolean {x} { return [expr {$x ? "true" : "false"}] }

Agent/TCP set packetSize_ $P(segment)
Agent/TCP set window_ $P(window)
Agent/TCP set tcpTick_ $P(tick)
Agent/TCP set minrto_ $P(min_rto)
Agent/TCP set rtxcur_init_ $P(initial_rto)
Agent/TCP set maxrto_ $P(max_rto)
Agent/TCP set precisionReduce_ [boolean $P(precise_halves)]
Queue set limit_ $P(nonbottleneck_limit)
Queue/RED set thresh_ $P(min_th)
Queue/RED set maxthresh_ $P(max_th)
Queue/RED set q_weight_ $P(weight)
Queue/RED set linterm_ [expr {1.0 / $P(max_p)}]
Queue/RED set gentle_ [boolean $P(gentle)]
Queue/RED set wait_ [boolean $P(wait)]
Queue/RED set bytes_ [boolean $P(bytes)]
Queue/RED set queue_in_bytes_ [boolean $P(queue_in_bytes)]
Queue/RED set mean_pktsize_ $P(mean_packet)
Queue/RED set setbit_ [boolean $P(setbit)]
Queue/RED set use_mark_p_ [boolean [expr {$P(mark_p) > 0}]]
Queue/RED set mark_p_ $P(mark_p)

# ns-2 counts a retransmission timer's expiry in several ways; its event trace has all of them.
if {$P(monitor)} { $ns eventtrace-all [file tempfile events] }

# ---------------------------------------------------------------- topology
set r1 [$ns node]
set r2 [$ns node]
$ns simplex-link $r1 $r2 $P(rate) $P(delay) $P(queue)
$ns simplex-link $r2 $r1 $P(rate) $P(delay) DropTail
$ns queue-limit $r1 $r2 $P(limit)
set bottleneck [$ns link $r1 $r2]
set queue [$bottleneck queue]

proc host_pair {index} {
  global ns P r1 r2 source sink_node
  if {[info exists sink_node($index)]} { return }
  if {$P(shared_source) && $index > 0} {
    set source($index) $source(0)
  } else {
    set source($index) [$ns node]
    set delay [expr {$P(access_delay) + [uniform $P(access_spread)]}]
    $ns duplex-link $source($index) $r1 $P(access_rate) $delay DropTail
  }
  set sink_node($index) [$ns node]
  $ns duplex-link $r2 $sink_node($index) $P(exit_rate) $P(exit_delay) DropTail
}

set flows {}
proc add_flow {group ecn at} {
  global ns P source sink_node tcp flows group_of
  set id [llength $flows]
  set host [expr {$P(hosts) > 0 ? $id % $P(hosts) : $id}]
  host_pair $host
  set tcp($id) [new Agent/TCP[expr {$P(tcp) eq "Tahoe" ? "" : "/$P(tcp)"}]]
  set sink [new Agent/TCPSink[expr {$P(tcp) in {Sack1 Fack} ? "/Sack1" : ""}]]
  $tcp($id) set fid_ $id
  $tcp($id) set ecn_ $ecn
  $ns attach-agent $source($host) $tcp($id)
  $ns attach-agent $sink_node($host) $sink
  $ns connect $tcp($id) $sink
  set ftp [new Application/FTP]
  $ftp attach-agent $tcp($id)
  $ns at $at "$ftp start"
  set group_of($id) $group
  lappend flows $id
}
for {set i 0} {$i < $P(background)} {incr i} {
  add_flow background 0 [expr {$P(background_start) + [uniform $P(background_spread)]}]
}
for {set i 0} {$i < $P(plain)} {incr i} { add_flow plain 0 [expr {$P(start) + [uniform $P(spread)]}] }
for {set i 0} {$i < $P(ecn)} {incr i} { add_flow ecn 1 [expr {$P(start) + [uniform $P(spread)]}] }

# ---------------------------------------------------------------- chosen losses and marks, packet trace
# Both lists count packets that have crossed the bottleneck, from 0; the SYN is number 0.  The modules are chained by
# hand because link-lossmodel takes one only; the marks' module comes first on the wire and counts every packet.
foreach {key marks} {drop 0 mark 1} {
  if {[llength $P($key)] == 0} { continue }
  set errors [new ErrorModel/List]
  $errors unit pkt
  $errors set markecn_ [boolean $marks]
  $errors droplist $P($key)
  set wire [$bottleneck set link_]
  $errors target [$wire target]
  $errors drop-target [new Agent/Null]
  $wire target $errors
}
if {$P(packets) ne ""} {
  set trace_file [open $P(packets) w]
  $ns trace-queue $r1 $r2 $trace_file
}

# ---------------------------------------------------------------- measuring
if {$P(monitor)} {
  set monitor [$ns makeflowmon Fid]
  $ns attach-fmon $bottleneck $monitor [expr {$P(queue) eq "RED"}]
  set integrator [new Integrator]
  $monitor set-pkts-integrator $integrator
  set average_sum 0.0
  set average_count 0
}
proc sample_average {} {
  global ns P queue average_sum average_count
  set average_sum [expr {$average_sum + [$queue set ave_] / ($P(queue_in_bytes) ? $P(mean_packet) : 1.0)}]
  incr average_count
  $ns at [expr {[$ns now] + $P(sample)}] sample_average
}
proc queue_integral {} {
  global ns monitor integrator
  $integrator newpoint [$ns now] [$monitor set pkts_]
  return [$integrator set sum_]
}
# Everything that only grows, by "name,group".
proc totals {} {
  global P flows tcp group_of monitor
  foreach id $flows {
    set g $group_of($id)
    set acked [$tcp($id) set ack_]
    foreach {name value} [list \
        acked [expr {$acked < 0 ? 0 : $acked}] retransmits [$tcp($id) set nrexmitpack_] \
        sent [$tcp($id) set ndatapack_] ecn_reductions [$tcp($id) set necnresponses_] \
        idle_expiries [expr {[$tcp($id) set ncwndcuts_] - [$tcp($id) set ncwndcuts1_]}]] {
      if {![info exists T($name,$g)]} { set T($name,$g) 0 }
      incr T($name,$g) $value
    }
  }
  if {$P(monitor)} {
    foreach flow [$monitor flows] {
      set g $group_of([$flow set flowid_])
      foreach {name variable} {arrived parrivals_ departed pdepartures_ drops pdrops_ early epdrops_ marks pmarks_} {
        if {![info exists T($name,$g)]} { set T($name,$g) 0 }
        incr T($name,$g) [expr {int([$flow set $variable])}]
      }
    }
    set T(integral) [queue_integral]
  }
  return [array get T]
}
proc begin_measurement {} {
  global P before
  array set before [totals]
  if {$P(monitor) && $P(queue) eq "RED"} { sample_average }
}
# Expiries of the retransmission timer inside the window, by group.
proc expiries {} {
  global ns P events group_of
  $ns flush-trace
  set file [open $events]
  while {[gets $file line] >= 0} {
    # E time source destination TCP event flow sequence cwnd
    if {[lindex $line 5] eq "TIMEOUT" && [lindex $line 1] >= $P(warmup)} { incr E($group_of([lindex $line 6])) }
  }
  close $file
  file delete $events
  return [array get E]
}
proc finish {} {
  global ns P before flows group_of started queue average_sum average_count trace_file
  set wall [expr {([clock clicks -microseconds] - $started) / 1e6}]
  set seconds [expr {$P(end) - $P(warmup)}]
  array set after [totals]
  foreach id $flows { incr members($group_of($id)) }
  set fields [list "\"simulator\":\"ns-2.35\"" "\"seed\":$P(seed)" "\"wall_s\":$wall"]
  if {$P(monitor)} { array set expired [expiries] }
  set groups {}
  foreach g [lsort [array names members]] {
    set row [list "\"flows\":$members($g)"]
    foreach key [lsort [array names after *,$g]] {
      set name [lindex [split $key ,] 0]
      set change [expr {$after($key) - ([info exists before($key)] ? $before($key) : 0)}]
      if {$name eq "idle_expiries"} { set idle $change; continue }
      if {$name eq "acked"} { lappend row "\"goodput_bps\":[expr {8.0 * $P(segment) * $change / $seconds / $members($g)}]" }
      lappend row "\"$name\":$change"
    }
    # An expiry with nothing outstanding (cwnd below one packet after an ECN cut) is no timeout.
    if {$P(monitor)} { lappend row "\"timeouts\":[expr {([info exists expired($g)] ? $expired($g) : 0) - $idle}]" }
    lappend groups "\"$g\":{[join $row ,]}"
  }
  lappend fields "\"groups\":{[join $groups ,]}"
  if {$P(monitor)} {
    lappend fields "\"queue_mean_packets\":[expr {($after(integral) - $before(integral)) / $seconds}]"
    if {$average_count > 0} { lappend fields "\"average_mean_packets\":[expr {$average_sum / $average_count}]" }
  }
  if {$P(queue) eq "RED"} {
    lappend fields "\"min_th\":[$queue set thresh_]" "\"max_th\":[$queue set maxthresh_]" "\"weight\":[$queue set q_weight_]"
  }
  if {[info exists trace_file]} { close $trace_file }
  puts "{[join $fields ,]}"
  exit 0
}
# The clock starts with the first event: computing routes is not part of the event loop.
$ns at 0 { set started [clock clicks -microseconds] }
$ns at $P(warmup) begin_measurement
$ns at $P(end) finish
$ns run
