C@ f2c -a
      SUBROUTINE MXMN(A,N1,B,N2,C,N3)
C     C := A*B, SMALL MATRICES
      INTEGER N1,N2,N3,I,J,K
      DOUBLE PRECISION A(N1,N2),B(N2,N3),C(N1,N3)
C@ begin n1=12 n2=12 n3=144
      DO 30 J = 1,N3
         DO 20 I = 1,N1
            C(I,J) = 0.0D0
            DO 10 K = 1,N2
               C(I,J) = C(I,J) + A(I,K)*B(K,J)
   10       CONTINUE
   20    CONTINUE
   30 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE MXF2(A,N1,B,C,N3)
C     THE SUM OVER TWO WRITTEN OUT
      INTEGER N1,N3,I,J
      DOUBLE PRECISION A(N1,2),B(2,N3),C(N1,N3)
C@ begin n1=144 n3=4096
      DO 20 J = 1,N3
         DO 10 I = 1,N1
            C(I,J) = A(I,1)*B(1,J) + A(I,2)*B(2,J)
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE MXF8(A,N1,B,C,N3)
      INTEGER N1,N3,I,J
      DOUBLE PRECISION A(N1,8),B(8,N3),C(N1,N3)
C@ begin n1=64 n3=4096
      DO 20 J = 1,N3
         DO 10 I = 1,N1
            C(I,J) = A(I,1)*B(1,J)
     1             + A(I,2)*B(2,J)
     2             + A(I,3)*B(3,J)
     3             + A(I,4)*B(4,J)
     4             + A(I,5)*B(5,J)
     5             + A(I,6)*B(6,J)
     6             + A(I,7)*B(7,J)
     7             + A(I,8)*B(8,J)
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE MXM44(A,N1,B,N2,C,N3)
C     FOUR COLUMNS AND TWO ROWS AT A TIME, N2 OF FOUR KINDS
      INTEGER N1,N2,N3,I,J,K
      DOUBLE PRECISION A(N1,N2),B(N2,N3),C(N1,N3)
      DOUBLE PRECISION S11,S12,S13,S14
C@ begin n1=12 n2=12 n3=4096
      DO 30 J = 1,N3,4
         DO 20 I = 1,N1
            S11 = 0.0D0
            S12 = 0.0D0
            S13 = 0.0D0
            S14 = 0.0D0
            DO 10 K = 1,N2
               S11 = S11 + A(I,K)*B(K,J)
               S12 = S12 + A(I,K)*B(K,J+1)
               S13 = S13 + A(I,K)*B(K,J+2)
               S14 = S14 + A(I,K)*B(K,J+3)
   10       CONTINUE
            C(I,J) = S11
            C(I,J+1) = S12
            C(I,J+2) = S13
            C(I,J+3) = S14
   20    CONTINUE
   30 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE LOCGR3(UR,US,UT,U,N,NE,D,DT)
C     THE GRADIENT OF EACH ELEMENT BY THREE PRODUCTS
      INTEGER N,NE,E,I,J,K,L
      DOUBLE PRECISION UR(N,N,N,NE),US(N,N,N,NE),UT(N,N,N,NE)
      DOUBLE PRECISION U(N,N,N,NE),D(N,N),DT(N,N)
C@ begin n=12 ne=1000
      DO 90 E = 1,NE
         DO 30 K = 1,N
         DO 30 J = 1,N
         DO 20 I = 1,N
            UR(I,J,K,E) = 0.0D0
            US(I,J,K,E) = 0.0D0
            UT(I,J,K,E) = 0.0D0
   20    CONTINUE
   30    CONTINUE
         DO 80 K = 1,N
         DO 70 J = 1,N
         DO 60 I = 1,N
         DO 50 L = 1,N
            UR(I,J,K,E) = UR(I,J,K,E) + D(I,L)*U(L,J,K,E)
            US(I,J,K,E) = US(I,J,K,E) + U(I,L,K,E)*DT(L,J)
            UT(I,J,K,E) = UT(I,J,K,E) + U(I,J,L,E)*DT(L,K)
   50    CONTINUE
   60    CONTINUE
   70    CONTINUE
   80    CONTINUE
   90 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE AXE(W,U,GXYZ,UR,US,UT,D,DT,N,NE)
C     THE OPERATOR: GRADIENT INTO WORK ARRAYS OF ONE ELEMENT, METRIC,
C     AND ITS TRANSPOSE
      INTEGER N,NE,E,I,J,K,L
      DOUBLE PRECISION W(N,N,N,NE),U(N,N,N,NE),GXYZ(6,N,N,N,NE)
      DOUBLE PRECISION UR(N,N,N),US(N,N,N),UT(N,N,N),D(N,N),DT(N,N)
      DOUBLE PRECISION WR,WS,WT
C@ begin n=12 ne=1000
      DO 90 E = 1,NE
         DO 30 K = 1,N
         DO 25 J = 1,N
         DO 20 I = 1,N
            WR = 0.0D0
            WS = 0.0D0
            WT = 0.0D0
            DO 10 L = 1,N
               WR = WR + D(I,L)*U(L,J,K,E)
               WS = WS + U(I,L,K,E)*DT(L,J)
               WT = WT + U(I,J,L,E)*DT(L,K)
   10       CONTINUE
            UR(I,J,K) = GXYZ(1,I,J,K,E)*WR + GXYZ(2,I,J,K,E)*WS
     1                + GXYZ(3,I,J,K,E)*WT
            US(I,J,K) = GXYZ(2,I,J,K,E)*WR + GXYZ(4,I,J,K,E)*WS
     1                + GXYZ(5,I,J,K,E)*WT
            UT(I,J,K) = GXYZ(3,I,J,K,E)*WR + GXYZ(5,I,J,K,E)*WS
     1                + GXYZ(6,I,J,K,E)*WT
   20    CONTINUE
   25    CONTINUE
   30    CONTINUE
         DO 60 K = 1,N
         DO 55 J = 1,N
         DO 50 I = 1,N
            WR = 0.0D0
            DO 40 L = 1,N
               WR = WR + DT(I,L)*UR(L,J,K) + US(I,L,K)*D(L,J)
     1            + UT(I,J,L)*D(L,K)
   40       CONTINUE
            W(I,J,K,E) = WR
   50    CONTINUE
   55    CONTINUE
   60    CONTINUE
   90 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE AXES(W,U,GXYZ,D,DT,NE)
C     THE SAME WITH STATIC WORK ARRAYS AND A FIXED ORDER
      INTEGER LX
      PARAMETER (LX=8)
      INTEGER NE,E,I,J,K,L
      DOUBLE PRECISION W(LX,LX,LX,NE),U(LX,LX,LX,NE)
      DOUBLE PRECISION GXYZ(LX,LX,LX,NE),D(LX,LX),DT(LX,LX)
      DOUBLE PRECISION UR(LX,LX,LX)
      SAVE UR
C@ begin ne=1000
      DO 90 E = 1,NE
         DO 30 K = 1,LX
         DO 25 J = 1,LX
         DO 20 I = 1,LX
            UR(I,J,K) = 0.0D0
            DO 10 L = 1,LX
               UR(I,J,K) = UR(I,J,K) + D(I,L)*U(L,J,K,E)
   10       CONTINUE
            UR(I,J,K) = GXYZ(I,J,K,E)*UR(I,J,K)
   20    CONTINUE
   25    CONTINUE
   30    CONTINUE
         DO 60 K = 1,LX
         DO 55 J = 1,LX
         DO 50 I = 1,LX
            W(I,J,K,E) = 0.0D0
            DO 40 L = 1,LX
               W(I,J,K,E) = W(I,J,K,E) + DT(I,L)*UR(L,J,K)
   40       CONTINUE
   50    CONTINUE
   55    CONTINUE
   60    CONTINUE
   90 CONTINUE
C@ end
      RETURN
      END
      DOUBLE PRECISION FUNCTION GLSC3(A,B,MULT,N)
      INTEGER N,I
      DOUBLE PRECISION A(*),B(*),MULT(*),TMP
C@ begin n=1728000
      TMP = 0.0D0
      DO 10 I = 1,N
         TMP = TMP + A(I)*B(I)*MULT(I)
   10 CONTINUE
C@ end
      GLSC3 = TMP
      RETURN
      END
      SUBROUTINE ADD2S2(A,B,C1,N)
      INTEGER N,I
      DOUBLE PRECISION A(*),B(*),C1
C@ begin n=1728000
      DO 100 I = 1,N
         A(I) = A(I) + C1*B(I)
  100 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE RZERO3(A,B,C,N)
      INTEGER N,I
      DOUBLE PRECISION A(*),B(*),C(*)
C@ begin n=1728000
      DO 10 I = 1,N
         A(I) = 0.0D0
         B(I) = 0.0D0
         C(I) = 0.0D0
   10 CONTINUE
C@ end
      RETURN
      END
