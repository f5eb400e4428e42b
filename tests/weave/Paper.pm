package Paper;

# Reads a PDF of the book as boxes of words, and says what is wrong with its pages.
# Nothing here knows how they were set: what should stand there is read from the
# chapters, and from the pictures that their programs drew.

use strict;
use warnings;
use utf8;
use FindBin qw($Bin);
use Chapter;

# The text block's width, and how far numbers of lines, and wide pictures, may stand
# out of it, in points; the margins above and below.
our ($MEASURE, $GUTTER, $HANG, $TOP, $BOTTOM) = (380, 36, 36, 40, 30);
my $HEAD = 65; # how far the text block is from the paper's upper and lower edges, at least
my $PX = 0.7; # points that a picture's px is wide, unless it is too wide

sub squeezed { return join('', @_) =~ s/[\s\x{200b}\x{ad}]+//gr }

# The pages of a PDF: width, height, words (text, x0, y0, x1, y1), and lines, each
# with its words from left to right.
sub read_pdf {
    my ($path) = @_;
    open my $from, '-|:encoding(UTF-8)', 'pdftotext', '-bbox', $path, '-' or die "pdftotext: $!\n";
    my @pages;
    local $_;
    while (<$from>) {
        if (/<page width="([\d.]+)" height="([\d.]+)"/) {
            push @pages, {number => @pages + 1, width => $1, height => $2, words => []};
        }
        elsif (my ($x0, $y0, $x1, $y1, $text) = m{<word xMin="(\S+)" yMin="(\S+)" xMax="(\S+)" yMax="(\S+)">(.*)</word>}) {
            my %sign = (lt => '<', gt => '>', amp => '&', quot => '"', apos => "'");
            $text =~ s/&(?:#(\d+)|(\w+));/defined $1 ? chr $1 : $sign{$2}/ge;
            push @{$pages[-1]{words}}, {text => $text, x0 => $x0, y0 => $y0, x1 => $x1, y1 => $y1};
        }
    }
    close $from or die "pdftotext $path failed\n";
    for my $page (@pages) {
        $page->{left}  = ($page->{width} - $MEASURE) / 2;
        $page->{right} = $page->{width} - $page->{left};
        $page->{lines} = [lines_of(@{$page->{words}})];
        # The text block, without what stands above and below it.
        $page->{body} = [grep { $_->[0]{y0} > $HEAD && $_->[0]{y1} < $page->{height} - $HEAD } @{$page->{lines}}];
        $page->{by_line}  = join "\n", map { text_of($_) } @{$page->{body}};
        $page->{squeezed} = squeezed($page->{by_line});
        $page->{text} = text_of($page->{words});
    }
    return \@pages;
}

sub text_of { return join ' ', map { $_->{text} } @{$_[0]} }

# Words of one height are a line.
sub lines_of {
    my @lines;
    my $middle = sub { ($_[0]{y0} + $_[0]{y1}) / 2 };
    for my $word (sort { $middle->($a) <=> $middle->($b) } @_) {
        push @lines, [] if !@lines || $middle->($word) - $middle->($lines[-1][0]) > 3;
        push @{$lines[-1]}, $word;
    }
    return map { [sort { $a->{x0} <=> $b->{x0} } @$_] } @lines;
}

# ------------------------------------------------------- what should be there

# A chapter's figures, in order: number, what they say, width and height in px.
sub figures_of {
    my ($chapter, $folder) = @_;
    my ($number, $count) = ($chapter->{number} =~ s/^0+//r, 0);
    my $prose = join "\n", map { $chapter->{kind}[$_] eq 'prose' ? $chapter->{lines}[$_] : '' }
      0 .. $#{$chapter->{lines}};
    my @figures;
    while ($prose =~ /\]\(([\w-]+)\.svg\)/g) {
        $count++;
        push @figures, figure("$number.$count", "$folder/$chapter->{number}/$1.svg");
    }
    return @figures;
}

# One of them.
sub figure {
    my ($number, $path) = @_;
    open my $file, '<:encoding(UTF-8)', $path or die "$path: $!\n";
    my $svg = do { local $/; <$file> };
    my ($width, $height) = $svg =~ /^<svg[^>]*?\swidth="([\d.]+)"\s+height="([\d.]+)"/s;
    my %sign = (lt => '<', gt => '>', amp => '&');
    my @says = map { s/&(\w+);/$sign{$1} \/\/ ''/ger } map { split ' ', s/<[^>]*>/ /gr }
      $svg =~ m{<text\b[^>]*>(.*?)</text>}gs;
    return {number => $number, says => \@says, width => $width, height => $height};
}

# The lines of code of a file, each behind its number, without blanks. Of a
# chapter, the includes of the book's own headers are not shown: its own stands for them.
sub code_of {
    my ($chapter) = @_;
    my $own = -e 'src/attention/' . ($chapter->{name} // '') . '.h';
    return map { ($chapter->{from} ? $chapter->{from}[$_][1] : $_ + 1) . '|' . squeezed($chapter->{lines}[$_]) }
      grep { $chapter->{lines}[$_] =~ /\S/ && !($own && $chapter->{lines}[$_] =~ /^#include "/) }
      $chapter->lines_of('code');
}

# ------------------------------------------------------------------ the checks
# Each returns what it finds wrong, a line each.

# Where a wide picture stands on a page: [top, bottom] of each.
sub wide_pictures {
    my ($page, $figures) = @_;
    my @places;
    for my $figure (grep { $_->{width} * $PX > $MEASURE } @$figures) {
        for my $line (@{$page->{lines}}) {
            next if text_of($line) !~ /^Figure \Q$figure->{number}\E\. /;
            push @places, [$line->[0]{y0} - $figure->{height} * $PX - 16, $line->[0]{y0}];
        }
    }
    return @places;
}

sub outside {
    my ($pages, $figures) = @_;
    my @wrong;
    for my $page (@$pages) {
        my @wide = wide_pictures($page, $figures);
        for my $word (@{$page->{words}}) {
            my $in_picture = grep { $word->{y0} > $_->[0] && $word->{y1} < $_->[1] } @wide;
            my $is_number = $word->{text} =~ /^\d+$/ && $word->{x1} < $page->{left};
            my ($left, $right) = map { $in_picture ? $HANG : $_ } $is_number ? $GUTTER : 1, 1;
            # Marks at a line's end hang.
            $right = 3.5 if $word->{text} =~ /[\p{P}\x{ad}]$/;
            next if $word->{x0} >= $page->{left} - $left && $word->{x1} <= $page->{right} + $right
              && $word->{y0} >= $TOP && $word->{y1} <= $page->{height} - $BOTTOM;
            push @wrong, sprintf 'page %d: "%s" at %.0f to %.0f, %.0f is outside of the text block',
              $page->{number}, @$word{qw(text x0 x1 y0)};
        }
    }
    return @wrong;
}

# The number of a line of code of a page, or 0.
sub number_of {
    my ($line, $page) = @_;
    return $line && $line->[0]{text} =~ /^\d+$/ && $line->[0]{x1} < $page->{left} ? $line->[0]{text} : 0;
}

# Code that breaks has more than 30 lines, and four of them on either page.
sub code_broken {
    my ($pages) = @_;
    my @wrong;
    for my $page (@$pages[0 .. $#$pages - 1]) {
        my $next = $pages->[$page->{number}];
        my ($above, $below) = ([reverse map { number_of($_, $page) } @{$page->{body}}], [map { number_of($_, $next) } @{$next->{body}}]);
        next if !$above->[0] || $below->[0] != $above->[0] + 1;
        my ($m, $n) = (1, 1);
        $m++ while ($above->[$m] // 0) == $above->[0] - $m;
        $n++ while ($below->[$n] // 0) == $below->[0] + $n;
        push @wrong, "page $page->{number}: ends with $m lines of code, $n are on the next" if $m + $n <= 30 || $m < 4 || $n < 4;
    }
    return @wrong;
}

# Code is as large as 7 points, at least; a sign is 0.602 as wide as high.
sub code_small {
    my ($pages) = @_;
    my @wrong;
    for my $page (@$pages) {
        for my $word (grep { $_->{text} =~ /[a-z]{3}/ } map { number_of($_, $page) ? @$_[1 .. $#$_] : () } @{$page->{lines}}) {
            my $size = ($word->{x1} - $word->{x0}) / 0.602 / length $word->{text};
            push @wrong, sprintf 'page %d: %s has %.1f points', $page->{number}, $word->{text}, $size if $size < 6.95;
        }
    }
    return @wrong;
}

# Every line of code stands behind its number, whole.
sub code_missing {
    my ($pages, @chapters) = @_;
    my %there;
    for my $page (@$pages) {
        for my $line (@{$page->{lines}}) {
            next if !number_of($line, $page);
            my ($number, @rest) = @$line;
            $there{"$number->{text}|" . squeezed(map { $_->{text} } @rest)}++;
        }
    }
    my (%wanted, @wrong);
    for my $chapter (@chapters) {
        for my $line (code_of($chapter)) {
            push @wrong, "$chapter->{path}:" . ($line =~ s/\|/: is not on paper, or not whole: /r)
              if ++$wanted{$line} > ($there{$line} // 0);
        }
    }
    return @wrong;
}

# Every table of an output stands on one page: the first with the command that gives
# it, each other there or on the next.
sub output_broken {
    my ($pages, @chapters) = @_;
    my @wrong;
    for my $chapter (@chapters) {
        for my $block (grep { $_->{info} =~ /output/ } @{$chapter->{blocks}}) {
            my ($first, @others) = map { squeezed($_) } split /(?<=\])\n(?=[^\[ ])/, join "\n", @{$block->{lines}};
            my ($args) = $block->{info} =~ /\bargs="(.*?)"/;
            my $command = defined $args ? squeezed(qq{make -s run-$chapter->{number} ARGS="$args"}) : '';
            next if grep {
                my ($page, $next) = ($_, $pages->[$_->{number}]);
                my $is_on = sub { my ($text, @these) = @_; grep { index($_->{squeezed}, $text) >= 0 } @these };
                $is_on->($command, $page) && $is_on->($first, $page)
                  && @others == grep { $is_on->($_, $page, $next // ()) } @others
            } @$pages;
            push @wrong, "$chapter->{path}:$block->{first}: this output stands on no page, or a table of it is broken";
        }
    }
    return @wrong;
}

# Every figure stands above its number, with all that it says.
sub figures_missing {
    my ($pages, $figures) = @_;
    my @wrong;
    for my $figure (@$figures) {
        my ($page) = grep { grep { text_of($_) =~ /^Figure \Q$figure->{number}\E\. / } @{$_->{lines}} } @$pages;
        if (!$page) { push @wrong, "figure $figure->{number} is on no page"; next }
        my @lost = grep { index($page->{squeezed}, squeezed($_)) < 0 } @{$figure->{says}};
        push @wrong, "page $page->{number}: figure $figure->{number} lacks: @lost" if @lost;
    }
    return @wrong;
}

# The titles of the sections in a text.
sub titles_of {
    my ($text) = @_;
    my @titles = $text =~ /^##+ +(.*?)(?: *\{[^}]*\})?$/gm;
    return map { squeezed(s/[`*]//gr) } @titles;
}

# What only announces what comes is not the last on its page. (In the index a type
# may have a title's name.)
sub left_alone {
    my ($pages, @titles) = @_;
    my %is_title = map { $_ => 1 } @titles;
    my @wrong;
    for my $page (@$pages) {
        my $last = $page->{body}[-1] or next;
        next if text_of($page->{lines}[0] // []) eq 'Index';
        my $text = text_of($last);
        push @wrong, "page $page->{number}: ends with: $text"
          if $is_title{squeezed($text)} || $text =~ /^(?:How this is \w+: lines|Python$|output$)/
          || $text =~ /^exercise\s\S+ asks for \S+$/ || $text =~ /^Exercise\s\S+ \(page\s\d+\)$/;
    }
    return @wrong;
}

# No page's last quarter is empty, unless what follows begins with a large title.
sub ends_early {
    my ($pages) = @_;
    my @wrong;
    for my $page (@$pages[0 .. $#$pages - 1]) {
        my @below = @{$pages->[$page->{number}]{body}};
        my @next  = map { @$_ } splice @below, 0, 3;
        next if !@{$page->{body}} || grep { $_->{y1} - $_->{y0} > 20 } @next;
        my ($end) = sort { $b <=> $a } map { $_->{y1} } map { @$_ } @{$page->{body}};
        push @wrong, sprintf 'page %d: is empty from %.0f on', $page->{number}, $end
          if $end < $HEAD + 3 / 4 * ($page->{height} - 2 * $HEAD);
    }
    return @wrong;
}

# What a text has for the web alone, and pages have all the same.
sub left_from_web {
    my ($pages, $text) = @_;
    my @only = $text =~ /\[([^][]{20,})\]\{\.web-only\}/g;
    return map { my $words = $_; map {"page $_->{number}: is for the web alone: $words"}
          grep { index($_->{squeezed}, squeezed($words)) >= 0 } @$pages } @only;
}

# No sign was lost: none stands for what has no glyph, and those of other scripts that
# the text has are all there.
sub signs_lost {
    my ($pages, $text) = @_;
    my @wrong = map {"page $_->{number}: a sign without a glyph"}
      grep { $_->{text} =~ /[\x{fffd}\x{0}-\x{8}]/ } @$pages;
    my %there = map { $_ => 1 } map { split //, $_->{squeezed} } @$pages;
    my %wanted = map { $_ => 1 } $text =~ /([\x{c0}-\x{17f}\x{3000}-\x{ffef}])/g;
    return @wrong, map { sprintf 'the sign %s (U+%04X) is on no page', $_, ord } grep { !$there{$_} }
      sort keys %wanted;
}

# A page that is named is the page where it is.
sub misled {
    my ($pages) = @_;
    my @wrong;
    my $must = sub {
        my ($page, $what, $there, $pattern) = @_;
        my $target = $there >= 1 && $pages->[$there - 1];
        return if $target && (ref $pattern ? $target->{by_line} =~ $pattern
            : index($target->{squeezed}, squeezed($pattern)) >= 0);
        push @wrong, "page $page->{number}: $what is not on page $there";
    };
    my $found = 0;
    for my $page (@$pages) {
        my $text = $page->{text};
        while ($text =~ /\b(chapter|appendix|figure|exercise)\s([\dA-Z.]+),\spage\s(\d+)/gi) {
            my ($kind, $number, $there) = (ucfirst lc $1, $2, $3);
            $must->($page, "\l$kind $number", $there, qr/^$kind\s\Q$number\E\b/m);
            $found++;
        }
        while ($text =~ /\b([A-Z]\.\d+),?\s(?:page\s|p\.\s)(\d+)/g) {
            $must->($page, $1, $2, qr/^\Q$1\E\b/m);
            $found++;
        }
        while ($text =~ /“([^“”]{3,80})”,\spage\s(\d+)/g) {
            my ($title, $there) = ($1, $2);
            $must->($page, qq{"$title"}, $there, $title);
            $found++;
        }
    }
    push @wrong, 'no reference to a page was found' if !$found;
    return @wrong;
}

# Fonts that are not in the file, or whose signs cannot be read out.
sub fonts_wrong {
    my ($path) = @_;
    my @lines = qx{pdffonts '$path' 2>/dev/null};
    return 'there are no fonts' if @lines < 3;
    return map { s/\s+$//r } grep { !/\byes\s+(?:yes|no)\s+yes\s+\d+\s+\d+\s*$/ } @lines[2 .. $#lines];
}

1;
