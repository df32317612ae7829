# SPDX-License-Identifier: LGPL-2.1-or-later
# The ring of placement/ring.h as an integer program, in milliseconds: a path through the devices that are used
# and a hop that closes it, or a single device.

param n, integer;
set D := 1 .. n;
param layers, integer;
param devices_max, integer;
param required{D}, binary;
param layer_ms{D};
param room{D}, integer;
param has_ends, binary;
param first_ms{D};
param last_ms{D};
param room_first{D}, integer;
param room_last{D}, integer;
param room_both{D}, integer;
set HOPS within D cross D;
param hop_ms{HOPS};
param closing_ms{HOPS};           # of the hop that closes a ring with ends

var next{HOPS}, binary;           # of the path
var closing{HOPS}, binary;        # from the last stage to the first one
var single{D}, binary;
var on{D}, integer, >= 0;         # layers
var flow{HOPS}, >= 0;             # of one unit to each device of the path
var source{D}, >= 0;

var is_first{D}, >= 0;
var is_last{D}, >= 0;
var joined{D}, >= 0, <= 1;        # to others
var stages, integer, >= 1;        # a number to branch on, without which some take minutes

minimize step_ms:
    sum{i in D} (layer_ms[i] * on[i] + first_ms[i] * (is_first[i] + single[i]) + last_ms[i] * (is_last[i] + single[i]))
    + sum{(i, j) in HOPS} (hop_ms[i, j] * next[i, j] + closing_ms[i, j] * closing[i, j]);

s.t. one_kind: sum{(i, j) in HOPS} closing[i, j] + sum{i in D} single[i] = 1;
s.t. first{i in D}: is_first[i] = sum{(j, i) in HOPS} closing[j, i];
s.t. last{i in D}: is_last[i] = sum{(i, j) in HOPS} closing[i, j];
s.t. entered{i in D}: joined[i] = is_first[i] + sum{(j, i) in HOPS} next[j, i];
s.t. left{i in D}: joined[i] = is_last[i] + sum{(i, j) in HOPS} next[i, j];
s.t. alone{i in D}: joined[i] + sum{j in D} single[j] <= 1;

s.t. from_first{i in D}: source[i] <= n * is_first[i];
s.t. to_each{i in D}:
    source[i] + sum{(j, i) in HOPS} flow[j, i] = joined[i] + sum{(i, j) in HOPS} flow[i, j];
s.t. along_path{(i, j) in HOPS}: flow[i, j] <= (n - 1) * next[i, j];

s.t. all_layers: sum{i in D} on[i] = layers;
s.t. a_layer_each{i in D}: on[i] >= joined[i] + single[i];
s.t. fits{i in D}:
    on[i] <= room[i] * (joined[i] - is_first[i] - is_last[i]) + room_first[i] * is_first[i]
             + room_last[i] * is_last[i] + room_both[i] * single[i];
s.t. count: stages = sum{i in D} (joined[i] + single[i]);
s.t. at_most: stages <= devices_max;
s.t. with_required{i in D: required[i]}: joined[i] + single[i] = 1;

# Implied, but not by fractions: a path does not turn back.
s.t. no_return{(i, j) in HOPS: i < j and (j, i) in HOPS}: next[i, j] + next[j, i] <= joined[i];
s.t. carried{(i, j) in HOPS}: flow[i, j] >= next[i, j];
# Without ends a ring begins anywhere, here at its lowest number.
s.t. lowest{i in D: not has_ends}: joined[i] + sum{j in D: j > i} is_first[j] <= 1;
s.t. lowest_closing{(i, j) in HOPS: not has_ends and i < j}: closing[i, j] = 0;

solve;
end;
