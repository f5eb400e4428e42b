#!/usr/bin/env perl
# The reports of a submission: each has the form that its readers take, whatever a
# student's code has printed; nothing to grade is never full marks.

use strict;
use warnings;
use utf8;
use Encode qw(decode encode);
use JSON::PP;
use List::Util qw(sum0);
use TAP::Parser;
use Formats qw(%FORM %EARNED faults fits read_json);
use Report;
use Test::More;
use Text;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my @from = qw(CLASSROOM ASSIGNMENT SUBMISSION_TAG COMMIT_URL RELEASE_URL REVIEW_URL);
@ENV{@from} = map { "the $_" } @from;

# ---- Submissions: right, half right, one that does not compile, an empty one; and
# each with all that hurts in what was printed.

my $HOSTILE = join '', map({ chr } 0 .. 31, 127 .. 255), "]]>-->\r\n\"'\\\\x41\\&lt;&<a b='c'>\n...\n---\nok 1 - # SKIP\n",
  "1..0\nBail out!\n=1+1,\t;\e[2J\x{202e}\x{2028}\x{fffe}\x{d800}\x{1f600}★", 'x' x 10_000;
my $BYTES = "=cmd|'/C calc'!A0\xff\xc3\xa9\xc3(\xed\xa0\x80\n" . "\xe2\x98" x 5_000;

sub exercise {
    my ($id, $function, $points, $state, %more) = @_;
    my ($chapter) = $id =~ /^(\d+)/;
    return {id => $id, chapter => sprintf('%02d', $chapter), function => $function, title => 'Shares that add up to 1',
        points => $points, earned => $state eq 'done' ? $points : 0, state => $state, waits_for => undef,
        message => '', diagnosis => undef, tests => [], %more};
}

sub submission {
    my ($what, @exercises) = @_;
    my %compiled = map { $_->{chapter} => undef } @exercises;
    return {name => 'hw1', who => undef, seconds => 3.2, what => $what, compiled => \%compiled,
        score => (sum0 map { $_->{earned} } @exercises), max => (sum0 map { $_->{points} } @exercises),
        exercises => \@exercises};
}

sub submissions {
    my ($text, $who) = @_;
    my @tests = map { {name => "weighted_sum: $_", ok => $_ < 2, told => $_ < 2 ? {} : {given => "n = 2\nof\nfour\nlines", gave => '[1, 2]',
        due => '[1, 3]', wrong => 'entry 1', printed => "1\n2\n3\n4\n5" . ($_ == 2 ? $text : '')}} } 1 .. 30;
    my $half = submission('half right', exercise('2.1', 'softmax', 3, 'done'),
        exercise('2.2', 'weighted_sum', 3, 'wrong', message => "weighted_sum: 2: entry 1$text", diagnosis => "rows and columns$text", tests => \@tests),
        exercise('2.3', 'softmax_online', 4, 'waits', waits_for => '2.1'), exercise('3.1', 'project_qkv', 2, 'missing'));
    my $broken = submission('not compiling', exercise('2.1', 'softmax', 3, 'uncompiled'), exercise('3.1', 'project_qkv', 2, 'done'));
    $half->{compiled}{'03'} = 'there is no 03_qkv.c';
    $broken->{compiled}{'02'} = "02_softmax.c: In function 'softmax':\n02_softmax.c:9:1: error: expected ';'$text\n";
    return map { +{%$_, who => $who} } $half, $broken,
      submission('right', exercise('2.1', 'softmax', 3, 'done', tests => [{name => "softmax: $text", ok => 1, told => {}}]),
        exercise('3.1', 'project_qkv', 2, 'done')),
      submission('empty', map { exercise($_->[0], $_->[1], 3, 'empty', message => $text) } ['2.1', 'softmax'], ['2.2', 'weighted_sum']);
}

my ($half, $broken, $right, $empty) = my @plain = submissions('', 'alice');
my @all = (@plain, map { $_->{what} .= ', hostile'; $_ } submissions($HOSTILE, $HOSTILE), submissions($BYTES, $BYTES));

sub report { return Report::write(@_) }

sub none { my ($name, @wrong) = @_; is join("\n", @wrong), '', $name }

# ---- Each format of JSON

# The strings in a value, whatever its form.
sub strings {
    my ($value) = @_;
    return map { strings($_) } ref $value eq 'HASH' ? %$value : ref $value eq 'ARRAY' ? @$value : return $value // '';
}

my $BAD = qr/[\x00-\x08\x0b-\x1f\x7f-\x9f\x{202a}-\x{202e}\x{2066}-\x{2069}\x{fffe}\x{ffff}]/;

for my $format (sort keys %FORM) {
    for my $result (@all) {
        my $value = eval { read_json($format, report($format, $result)) };
        none "$format, $result->{what}: its form", $@ || faults($value, $FORM{$format}, $format);
        is_deeply [map { [$_->[0], $_->[1] ? 1 : 0] } $EARNED{$format}->($value)],
          [map { [$_->{earned}, $_->{state} eq 'done' ? 1 : 0] } @{$result->{exercises}}], '... what was earned';
        none '... no controls', grep { /$BAD/ } strings($value);
    }

    # The form itself is held: every key that must be, no other, and each type.
    my $value = read_json($format, report($format, $half));
    my @unseen;
    for my $object ($value, (grep { ref eq 'ARRAY' } values %$value)[0][0]) {
        for my $key (grep { $_ ne 'compiled' } keys %$object) {
            my $kept = delete $object->{$key};
            push @unseen, "no $key" if fits($value, $FORM{$format});
            $object->{$key} = {};
            push @unseen, "$key is {}" if fits($value, $FORM{$format});
            $object->{$key} = $kept;
        }
        $object->{odd} = 1;
        push @unseen, 'odd' if fits($value, $FORM{$format});
        delete $object->{odd};
    }
    none "$format: every fault of its form is seen", @unseen;
    none '... and nothing else', faults($value, $FORM{$format}, '');
}

sub of { my ($format, $result) = @_; return read_json($format, report($format, $result)) }

is_deeply [@{of('gradescope', $half)}{qw(score execution_time)}], [3, 3.2], 'gradescope: the score, and how long it took';
is of('classroom50', $right)->{commit}, 'the COMMIT_URL', 'classroom50: from the environment';
is join(' ', map { of('actions', $_)->{status} } $right, $half, $broken, $empty), 'pass error error fail', 'actions: the status of all';
is_deeply [@{of('prairielearn', $broken)}{qw(gradable score)}], [JSON::PP::false, 0.4], 'prairielearn: what does not compile costs no attempt';
like of('prairielearn', $broken)->{format_errors}[0], qr/^chapter 02 does not compile:\n.*expected ';'\z/s, '... and is told';
ok of('prairielearn', $half)->{gradable}, '... what is wrong does';
my @checks = @{of('check50', $half)->{results}};
is_deeply [@{$checks[2]}{qw(passed dependency)}], [undef, '2.1 softmax'], 'check50: what waits is blocked by another';
is_deeply [map { $_->{cause} && $_->{cause}{help} } @checks], [undef, 'rows and columns', undef, undef], '... a diagnosis helps';
like $checks[3]{cause}{rationale}, qr/project_qkv is missing/, '... what is missing is told';

# ---- JUnit, read by a strict reader of XML: of what XML has, elements, attributes,
# text, the five entities and numbers of characters. Elements are [name, attributes, ...].

sub characters {
    my ($text, $not) = @_;
    die "'$1' stands in $text\n" if $text =~ /($not|$BAD|]]>)/;
    my %entity = (lt => '<', gt => '>', amp => '&', quot => '"', apos => "'");
    $text =~ s/&(?:#(\d+)|(\w+))?(;?)/$3 && ($1 ? chr $1 : $entity{$2 \/\/ ''}) or die "an & alone: $text\n"/ge;
    return $text;
}

sub read_xml {
    my ($text) = @_;
    $text =~ s/\A<\?xml version="1\.0" encoding="UTF-8"\?>\n// or die "no declaration\n";
    my @open = ['root', {}];
    while ($text =~ m{\G(?:</(\w+)>|<(\w+)((?: \w+="[^"]*")*)(/?)>|([^<]+))}gc) {
        my ($end, $name, $given, $closed, $words) = ($1, $2, $3, $4, $5);
        if (defined $words) { push @{$open[-1]}, characters($words, qr/[<>]/) }
        elsif (defined $end) { (pop @open)->[0] eq $end or die "</$end> closes another\n" }
        else {
            my %has;
            while ($given =~ / (\w+)="([^"]*)"/g) {
                die "$1 stands twice\n" if exists $has{$1};
                $has{$1} = characters($2, qr/[<>\n\t]/);
            }
            push @{$open[-1]}, my $element = [$name, \%has];
            push @open, $element if !$closed;
        }
    }
    die 'no XML: ' . substr($text, pos($text) // 0, 40) . "\n" if (pos($text) // 0) != length $text;
    die "not closed: $open[-1][0]\n" if @open != 1;
    my @roots = grep { ref } @{$open[0]}[2 .. $#{$open[0]}];
    die "text or elements beside the root\n" if @roots != 1 || grep { !ref && /\S/ } @{$open[0]}[2 .. $#{$open[0]}];
    return $roots[0];
}

sub children { my ($element, $name) = @_; return grep { ref && $_->[0] =~ /^(?:$name)$/ } @$element[2 .. $#$element] }

my $XML = qq(<?xml version="1.0" encoding="UTF-8"?>\n);
for my $wrong ('<a>', '<a></b>', '<a/><b/>', '<a>]]></a>', '<a>&</a>', '<a>&no;</a>', '<a b="<"/>', '<a b="1" b="2"/>',
    '<a b=1/>', "<a>\x01</a>", 'x<a/>', '<a', '<a b="x > y"/>') {
    ok !eval { read_xml("$XML$wrong") }, "no XML: $wrong" =~ s/\x01/\\x01/r;
}
is_deeply read_xml(qq($XML<a b="&#10;&quot;">&lt;<c/></a>)), ['a', {b => qq(\n")}, '<', ['c', {}]], 'XML';

my %ELEMENT = (done => '', wrong => 'failure', empty => 'failure', uncompiled => 'error', missing => 'error', waits => 'skipped');
for my $result (@all) {
    my $root = eval { read_xml(report('junit', $result)) } or fail("junit, $result->{what}: $@"), next;
    my @suites = children($root, 'testsuite');
    my @cases = map { children($_, 'testcase') } @suites;
    is_deeply [$root->[0], map { join ' ', sort keys %{$_->[1]} } $root, $suites[0], $cases[0]],
      ['testsuites', ('errors failures name skipped tests time') x 2, 'classname name time'], "junit, $result->{what}: its form";
    is_deeply [map { [$_->[1]{name}, map { $_->[0] } children($_, '\w+')] } @cases],
      [map { ["$_->{id} $_->{function}", $ELEMENT{$_->{state}} || ()] } @{$result->{exercises}}], '... a case for each exercise';
    for my $key (qw(failures errors skipped)) {
        my $name = $key =~ s/s$//r;
        is $root->[1]{$key}, sum0(map { $_->[1]{$key} } @suites), "... $key in all";
        is $root->[1]{$key}, scalar(map { children($_, $name) } @cases), '... as many as there are';
    }
    none '... all that fails has a message', map { $_->[1]{name} } grep { $_->[1]{message} eq '' }
      map { children($_, 'failure|error|skipped') } @cases;
}

# ---- TAP, as prove reads it.

for my $result (@all, submission('a name', exercise('2.1', 'softmax # TODO', 3, 'wrong'),
    exercise('2.2', 'weighted_sum # SKIP \\', 3, 'done'))) {
    my $parser = TAP::Parser->new({tap => encode('UTF-8', report('tap', $result))});
    my (@is, @told);
    while (my $line = $parser->next) {
        push @is, $line->is_actual_ok && !$line->directive ? 1 : 0 if $line->is_test;
        push @told, eval { $line->data->{output} } if $line->is_yaml;
        push @is, 'odd: ' . $line->as_string if $line->is_unknown || $line->is_bailout;
    }
    none "tap, $result->{what}: TAP::Parser minds nothing", $parser->parse_errors;
    is_deeply \@is, [map { $_->{state} eq 'done' ? 1 : 0 } @{$result->{exercises}}], '... and what passes is done';
    my @lines = map { $_->{output} } grep { $_->{output} ne 'done' } @{of('prairielearn', $result)->{tests}};
    is_deeply [map { decode('UTF-8', $_ // '') } @told], [map { length > 10_000 ? substr($_, 0, 10_000) . ' ...' : $_ } @lines],
      '... the rest is told, character by character';
}

# ---- CSV as RFC 4180 has it, and the table.

sub read_csv {
    my ($text) = @_;
    my (@rows, @row);
    while ($text =~ /\G(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gc) {
        my ($quoted, $plain, $end) = ($1, $2, $3);
        push @row, defined $quoted ? $quoted =~ s/""/"/gr : $plain;
        push @rows, [splice @row] if $end ne ',';
        last if $end ne ',' && pos $text == length $text;
    }
    die 'no CSV: ' . substr($text, pos($text) // 0, 40) . "\n" if (pos($text) // 0) != length $text;
    return @rows;
}

for my $result (@all) {
    my @rows = eval { read_csv(report('csv', $result)) };
    is_deeply $rows[0], [qw(name who exercise function title points earned state message)], "csv, $result->{what}" or diag $@;
    is_deeply [map { [@$_[0, 2, 6, 7]] } @rows[1 .. $#rows]],
      [map { ['hw1', @$_{qw(id earned state)}] } @{$result->{exercises}}], '... a row for each exercise';
    none '... no formulas', grep { /^[=+\-@\t]/ } map { @$_ } @rows;
    my $table = report('table', $result);
    unlike $table, $BAD, "table, $result->{what}: no controls";
    like $table, qr{^score: $result->{score} / $result->{max}\n(?:\n|\z)}m, '... it has the score';
}
is report('table', $half), <<'END', 'table: how far all is, and then the first test that fails';
hw1, alice

2.1 softmax          3 / 3   done
2.2 weighted_sum     0 / 3   wrong       29 of 30 tests fail
2.3 softmax_online   0 / 4   waits       waits for exercise 2.1
3.1 project_qkv      0 / 2   missing     project_qkv is missing
score: 3 / 12

2.2 weighted_sum
    perhaps: rows and columns
    FAILED  weighted_sum: 2
            given    n = 2
                     of
                     four
                     lines
            gave     [1, 2]
            due      [1, 3]
            wrong    entry 1
            printed  ...
                     3
                     4
                     5
    and 28 more
END
like report('table', $broken), qr/^2\.1 softmax .*uncompiled  chapter 02 does not compile: .*error: expected ';'$/m, '... what does not compile';
like report('table', $broken), qr/\n\nchapter 02 does not compile:\n02_softmax\.c: In function/, '... in the words of the compiler';
like report('table', (submissions("=\xc3\xa9\xff"))[0]), qr/columns=é\\xFF$/m, '... bytes become characters, or are shown';

# ---- The text that others have chosen, as all tools write it.

is Text::safe("a\r\n\e[2J\x{202e}\t\x{fffe}"), "a\n\\x1B[2J\\x{202E}\t\\x{FFFE}", 'text without controls';
is Text::safe("\xc3\xa9\xff"), 'é\xFF', '... from bytes, too';
is Text::safe('é' x 9, 3), 'ééé ... (the rest is left out)', '... so much of it';
is Text::safe("\xc3\xa9" x 9, 3), 'é ... (the rest is left out)', '... but no half characters';
is Text::safe(undef), undef, '... and nothing of nothing';
is Text::line("a\n b\t\tc"), 'a b c', 'one line';
is Text::escaped(q{<a b="c">&'é}), '&lt;a b=&quot;c&quot;&gt;&amp;&#39;é', 'text in HTML and XML';
my @cells = ('=1+1', '+1', '@x', '-x', "\t1", ' =1', '-3', '-0.5', '12', 'a,b', 'a;b', 'a; =b', 'a;"=b', '"a"', "a\nb", ' a', undef, "it's", 'é');
is Text::csv(['x'], \@cells), "x\r\n" . join(',', map({ qq{"'$_"} } '=1+1', '+1', '@x', '-x', "\t1", ' =1'), qw(-3 -0.5 12),
    '"a,b"', '"a;b"', q{"a;' =b"}, q{"a;'""=b"}, '"""a"""', qq{"a\nb"}, '" a"', '', q{"it's"}, 'é') . "\r\n", 'a table, in which no cell is a formula';

# ---- What is told of a test, and how much.

like of('gradescope', $half)->{tests}[1]{output}, qr/\Aperhaps: rows and columns\nFAILED  weighted_sum: 2\n +given +n = 2\n +of\n +four\n +lines\n +gave +\[1, 2\]\n +due +\[1, 3\]
 +wrong +entry 1\n +printed +\.\.\.\n +3\n +4\n +5\nFAILED  weighted_sum: 3\n.*FAILED  weighted_sum: 4\n.*\nand 26 more\z/ms, 'the first that fail';
my $large = submission('large', map { my $k = $_; exercise("2.$k", "f$k", 1, 'wrong', message => '"' x 1e4, diagnosis => "\x{1f600}" x 1e4,
    tests => [map { {name => "f$k: $_", ok => 0, told => {map { $_ => "\"\\\n" x 4e3 } qw(given gave due wrong printed)}} } 1 .. 9]) } 1 .. 14);
$large->{compiled}{'02'} = "error: \n" x 2e4;
for (['prairielearn', 1e6], ['actions', 1e5]) {
    my ($format, $most) = @$_;
    cmp_ok length(encode('UTF-8', report($format, $large))), '<=', $most, "$format: at most $most bytes";
}
none 'large: its form', faults(of('actions', $large), $FORM{actions}, 'actions');

# ---- What is refused.

sub refused {
    my ($format, $result, $message) = @_;
    my $text = eval { Report::write($format, $result) };
    is $text, undef, 'refused: ' . $message;
    like $@, qr/^[^\n]*$message[^\n]*\n\z/, '... in one line';
}

for my $format (Report::formats()) {
    refused($format, $_, 'hw1: there is nothing to grade') for {%$right, exercises => [], score => 0, max => 0}, {%$right, max => 0};
}
refused('xml', $right, "there is no format 'xml': one of actions check50");
refused(undef, $right, "there is no format ''");
refused('table', {%$right, score => 6}, 'a score of 6 / 5 is not the sum of its exercises, 5 / 5');
refused('table', {%$right, max => 4}, 'a score of 5 / 4 is not the sum of its exercises, 5 / 5');
refused('table', {%$right, exercises => [exercise('2.1', 'softmax', 3, 'right')]}, "exercise 2.1 is 'right'");
refused('table', {%$right, exercises => [exercise('2.1', 'softmax', @$_[0, 1], earned => $_->[2])]}, 'exercise 2.1 earns')
  for [3, 'wrong', 3], [3, 'done', 2], [3, 'done', 4], [0, 'done', 0], [3, 'wrong', -1], [3, 'wrong', 0.5];
delete $ENV{COMMIT_URL};
$ENV{REVIEW_URL} = '';
refused('classroom50', $right, 'classroom50 needs COMMIT_URL, REVIEW_URL in the environment');

done_testing;
