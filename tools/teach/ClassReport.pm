package ClassReport;

# What a class has earned, as a table for a spreadsheet, as a page, and in a few lines.
# The class is, for each student, {who, key (how the files are called), and result (as
# Report has it) or fault (why there is none)}.

use strict;
use warnings;
use utf8;
use Report;
use Text;

my $LONG = 200; # characters of a note
my $MOST = 5;   # mistakes of an exercise, and exercises to teach again

# ---- What the class has of each exercise

sub _mark { return $_[0]{state} =~ /^(?:done|wrong)$/ ? $_[0]{state} : 'open' }

# What went wrong, as it is counted. Where there was no answer, that is all that is known.
my $UNNAMED = qr{^(?:a mistake without a name|no answer)};
my @NONE = ([qr/^no end/, 'no answer: the function has no end'], [qr/^Bad system call/, 'no answer: the function makes a forbidden call'],
    [qr/^(?:Segmentation fault|Bus error|Aborted|Floating point exception|Illegal instruction|Killed)/, 'no answer: the function crashes'],
    [qr/^the program ended/, 'no answer: the function ends the program'], [qr/^refused/, 'no answer: the function refuses what is right']);
sub _mistake {
    my ($its) = @_;
    my ($failed) = grep { !$_->{ok} } @{$its->{tests}};
    my $test = $failed ? $failed->{name} =~ s/^\w+: //r : undef;
    my ($none) = map { $_->[1] } grep { $failed && ($failed->{told}{wrong} // '') =~ $_->[0] } @NONE;
    return Text::line($its->{diagnosis} // $none // (defined $test ? "a mistake without a name, in the test $test" : $its->{message}));
}

# Each exercise, with how many have it done, wrong and open, and its mistakes, as [how many
# made it, in words], the most frequent first, and of these those with a name.
sub _exercises {
    my ($assignment, @class) = @_;
    my (%count, %made);
    for my $its (map { $_->{result} ? @{$_->{result}{exercises}} : () } @class) {
        $count{$its->{id}}{_mark($its)}++;
        $made{$its->{id}}{_mistake($its)}++ if $its->{state} eq 'wrong';
    }
    my @all;
    for my $exercise (@{$assignment->{exercises}}) {
        my ($is, $of) = map { $_->{$exercise->{id}} // {} } \%count, \%made;
        my @words = sort { $of->{$b} <=> $of->{$a} || $a =~ $UNNAMED <=> $b =~ $UNNAMED || $a cmp $b } keys %$of;
        push @all, {%$exercise, (map { $_ => $is->{$_} // 0 } qw(done wrong open)),
            mistakes => [map { [$of->{$_}, $_] } @words]};
    }
    return @all;
}

sub _first { my ($most, @all) = @_; return @all > $most ? @all[0 .. $most - 1] : @all }

# ---- In a few lines, and as a table

sub lines {
    my ($assignment, @class) = @_;
    my @lines;
    for (_exercises($assignment, @class)) {
        my ($most) = @{$_->{mistakes}};
        push @lines, sprintf '%-6s %-18s %d done, %d wrong, %d open%s', @$_{qw(id function done wrong open)},
          $most ? "; most often: $most->[1]" : '';
    }
    return @lines;
}

# Why there is no result; or what of it is missing or does not compile.
sub _note {
    my ($student) = @_;
    return $student->{fault} if !$student->{result};
    my $said = $student->{result}{compiled};
    my @wrong = grep { defined } map { $said->{$_} } sort keys %$said;
    return join '; ', map { Text::line(Report::error_of($_), $LONG) } @wrong;
}

# A row for each; who could not be graded has no points, and the reason.
sub grades {
    my ($assignment, @class) = @_;
    my @ids = map { $_->{id} } @{$assignment->{exercises}};
    my @rows = ['name', 'score', 'max', @ids, 'note'];
    for (@class) {
        my $its = $_->{result} // {};
        my %earned = map { $_->{id} => $_->{earned} } @{$its->{exercises} // []};
        push @rows, [$_->{who}, @$its{qw(score max)}, @earned{@ids}, _note($_)];
    }
    my $text = Text::csv(@rows);
    return ($text =~ /[^\x00-\x7f]/ ? "\x{feff}" : '') . $text; # by which Excel knows UTF-8
}

# ---- As a page

my $STYLE = <<'END';
:root { color-scheme: light dark }
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere }
h1, h2, h3 { line-height: 1.25 } h3 { margin: 1.5rem 0 0 } h3 span, .few { font-weight: normal; opacity: .75 }
.bar { display: flex; height: 1rem; max-width: 25rem; margin: .4rem 0; border-radius: 3px; overflow: hidden }
.done { background: #3f8f4f } .wrong { background: #d0604a } .open { background: #9aa0a6 }
ul, ol { margin: .3rem 0; padding-left: 1.5rem } .wide { overflow-x: auto } a { color: inherit }
table { border-collapse: collapse } td { border-top: 1px solid #8884 }
th, td { padding: .15rem .9rem .15rem 0; text-align: left; white-space: nowrap }
td + td, th + th { text-align: right; font-variant-numeric: tabular-nums }
td:first-child, td[colspan] { white-space: normal; text-align: left; min-width: 9rem }
END

# What to teach again first, then each exercise and each student.
sub page {
    my ($assignment, @class) = @_;
    my @exercises = _exercises($assignment, @class);
    my @graded = grep { $_->{result} } @class;
    my $title = Text::escaped($assignment->{title});
    my @html = ('<!doctype html>', '<html lang="en">', '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">', "<title>$title</title>",
        "<style>\n$STYLE</style>", "<h1>$title</h1>", _in_all(\@graded, @class - @graded),
        '<h2>What to teach again</h2>', _to_teach(scalar @graded, @exercises), '<h2>Exercises</h2>',
        '<p class="few">Open is what is empty, waits for another, is missing or does not compile.</p>');
    push @html, _exercise($_, scalar @graded) for @exercises;
    push @html, '<h2>Students</h2>', '<div class="wide"><table>',
      '<tr>' . join('', map {"<th>$_</th>"} 'Name', 'Points', map { $_->{id} } @exercises) . '</tr>',
      (map { _student($_, 1 + @exercises) } @class), '</table></div>';
    return join '', map {"$_\n"} @html, '</html>';
}

sub _list { my ($kind, @items) = @_; return ("<$kind>", (map {"<li>$_</li>"} @items), "</$kind>") }

sub _in_all {
    my ($graded, $not) = @_;
    my $uncompiled = grep { grep { $_->{state} eq 'uncompiled' } @{$_->{result}{exercises}} } @$graded;
    my @scores = sort { $b <=> $a } map { $_->{result}{score} } @$graded;
    return '<p>' . join('; ', @$graded . ' graded' . ($not ? ", $not not" : ''),
        @scores ? "half of them have $scores[$#scores / 2] of $graded->[0]{result}{max} points or more" : (),
        $uncompiled ? "$uncompiled not compiled" : ()) . '.</p>';
}

# The exercises that more than a third has not solved, the worst first, with what most
# have done there.
sub _to_teach {
    my ($all, @exercises) = @_;
    my @worst = sort { $a->{done} <=> $b->{done} } grep { $all - $_->{done} > $all / 3 } @exercises;
    return '<p>Nothing: at least two thirds have solved each exercise.</p>' if !@worst;
    my @items;
    for (_first($MOST, @worst)) {
        my ($most) = @{$_->{mistakes}};
        my $why = $_->{open} > $_->{wrong} ? ": of $_->{open} there is nothing that could be tested"
          : $most && $most->[0] > 1        ? "; most often, $most->[0] times: $most->[1]"
          :                                  '';
        push @items, "<strong>$_->{id} <code>$_->{function}</code></strong>, which " . ($all - $_->{done})
          . " of $all have not solved" . Text::escaped($why);
    }
    return _list('ol', @items);
}

sub _exercise {
    my ($its, $all) = @_;
    my $bar = join '', map {qq(<div class="$_" style="flex: $its->{$_}"></div>)} qw(done wrong open);
    my @mistakes = map { Text::escaped("$_->[0] of $all: $_->[1]") } _first($MOST, @{$its->{mistakes}});
    return ("<h3>$its->{id} <code>$its->{function}</code> "
          . sprintf('<span>%d solved, %d wrong, %d open</span></h3>', @$its{qw(done wrong open)}),
        qq(<div class="bar" aria-hidden="true">$bar</div>), @mistakes ? _list('ul', @mistakes) : ());
}

sub _student {
    my ($student, $columns) = @_;
    my ($name, $result) = (Text::escaped($student->{who}), $student->{result});
    return qq(<tr><td>$name</td><td colspan="$columns">) . Text::escaped($student->{fault}) . '</td></tr>'
      if !$result;
    my $link = $student->{key} =~ s{([^\w.~-])}{sprintf '%%%02X', ord $1}gear;
    my %sign = (done => '✓', wrong => '✗', open => '·');
    my @cells = map { my $mark = _mark($_); qq(<td title="$mark">$sign{$mark}</td>) } @{$result->{exercises}};
    return qq(<tr><td><a href="reports/$link.txt">$name</a></td><td>$result->{score}</td>)
      . join('', @cells) . '</tr>';
}

1;
